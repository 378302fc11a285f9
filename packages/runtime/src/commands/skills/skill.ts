import type { JsonObject } from "../../protocol/content.ts";

/** Whose file it is: what a project holds loosens nothing unless the project is trusted, and what lies in a folder beside it never does. */
export type SkillScope = "user" | "project" | "beside";

/** A prompt that is kept in a file: a `SKILL.md` in a folder of its own, or a Markdown file among the commands. Its body is read when it is used. */
export type Skill = {
  /** What people and models call it: the name of its folder, or of its file with the folders above it. */
  readonly name: string;
  readonly kind: "skill" | "command";
  readonly scope: SkillScope;
  /** The file. */
  readonly path: string;
  /** What lies beside it belongs to it. */
  readonly folder: string;
  /** The file must not lead out of this folder; absent for files of the user. */
  readonly within?: string | undefined;
  /** The bundle it comes with, whose name its own begins with. */
  readonly plugin?: SkillPlugin | undefined;
  /** Another name for people. */
  readonly label?: string | undefined;
  readonly description: string;
  readonly argumentHint?: string | undefined;
  /** Names for its arguments, in their order. */
  readonly argumentNames: readonly string[];
  /** Rules that hold while it is at work. */
  readonly allowedTools: readonly string[];
  readonly disallowedTools: readonly string[];
  readonly model?: string | undefined;
  readonly effort?: SkillEffort | undefined;
  /** Hooks that come with its first use and stay, as settings have them; checked when it is used. */
  readonly hooks?: JsonObject | undefined;
  /** It is the task of a subagent. */
  readonly forks: boolean;
  /** Which agent does it then. */
  readonly agent?: string | undefined;
  readonly modelInvocable: boolean;
  readonly userInvocable: boolean;
  /** Only for work on files of these patterns: it is not offered by itself. */
  readonly paths: readonly string[];
  /** It says something about itself: Claude Code lists only those as skills. */
  readonly hasHead: boolean;
};

export type SkillEffort = "low" | "medium" | "high" | "xhigh" | "max";

export type SkillFolder = {
  readonly path: string;
  readonly kind: Skill["kind"];
  readonly scope: SkillScope;
  readonly within?: string;
  /** The bundle that the folder belongs to. */
  readonly plugin?: SkillPlugin;
};

/** A bundle of skills and more, with what its texts may speak of. */
export type SkillPlugin = { readonly name: string; readonly variables: Readonly<Record<string, string>> };

/** The skills a session has, by name. */
export type FoundSkills = {
  readonly skills: readonly Skill[];
  /** What a person should hear, a sentence each. */
  readonly warnings: readonly string[];
};
