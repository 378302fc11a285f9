/** What one look has found. `wrong` keeps runs from working, `note` is worth knowing. */
export type Finding = {
  readonly about: string;
  readonly state: "ok" | "note" | "wrong";
  readonly says: string;
  readonly todo?: string | undefined;
};

/** A look that fails is a finding too. */
export async function finding(about: string, look: () => Promise<Omit<Finding, "about">>): Promise<Finding> {
  try {
    return { about, ...(await look()) };
  } catch (error) {
    const todo = error instanceof Error && "hint" in error && typeof error.hint === "string" ? error.hint : undefined;
    return { about, state: "wrong", says: error instanceof Error ? error.message : String(error), todo };
  }
}
