/** Sends a person to an address and waits for them. */
export type AskPerson = {
  /** Where the authorization server sends them back to. */
  readonly redirectUrl: string;
  /** Answers the address that they were sent back to. */
  readonly visit: (url: URL) => Promise<URL>;
};

/** How a server's login is found or made. */
export type LoginWays = {
  /** The folder of the user's logins. */
  readonly loginFolder?: string | undefined;
  /** Somebody who can log in now. */
  readonly person?: AskPerson | undefined;
};
