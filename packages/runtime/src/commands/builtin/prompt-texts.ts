/** What `/init`, `/review` and the like ask the model for. */
const texts: Readonly<Record<string, string>> = {
  init: `Write down what somebody must know who begins to work in this project, for agents as well as for people.

1. Look before you write: the README and other documents, the manifests and lock files, the build, the tests, what CI runs, and how the source is laid out. Read what other tools are told too, where it is there: AGENTS.md, .cursor/rules, .cursorrules, .github/copilot-instructions.md.
2. If there is a CLAUDE.md or an AGENTS.md, improve it where it stands: keep what is right, mend what is not, add what is missing. Otherwise write CLAUDE.md at the root of the project.
3. It says how to build, check and test, a single test included, with commands that you have found in the project; how the parts work together, as far as it takes several files to see; and the rules that are kept here and cannot be guessed.
4. It is short. Leave out what a look at the folder shows, general advice, and whatever you did not find in the project.

End with what you wrote or changed, in a few sentences.`,

  review: `Review a change, and report what is wrong with it. Change no files.

1. Find the change. A number is a pull request: \`gh pr view\` and \`gh pr diff\` show it. A branch or a commit is compared with where it began. A path means what was changed there. Without any of them it is what this branch has beyond the one it will be merged into, and what is not committed yet: \`git status\`, \`git diff\`, \`git diff HEAD\`, \`git log\`.
2. Read each part of it with the code around it, and the code that calls it. Ask what input, order of events or failure makes it wrong; what the removed lines did that nobody does now; whether callers still fit; whether it keeps the rules of the project; whether a test would notice if it broke.
3. Look again at each thing you found, in the code, before you report it. Leave out what you cannot show, matters of taste, and what was there before.

Report the findings, the worst first: file and line, what is wrong in one sentence, and the case in which it fails. Then say in one or two sentences whether the change may go in. If there is nothing to find, say that.`,

  "security-review": `Look for weaknesses in security that a change brings with it, and report them. Change no files.

1. Find the change: what was asked for below, or else what this branch has beyond the one it will be merged into, and what is not committed yet (\`git status\`, \`git diff\`, \`git log\`).
2. Follow what comes from outside (requests, files, variables, messages, other people's names) to where it does something: commands, queries, paths, templates, deserialisation, redirects, requests to other hosts. Look at who may do what and whether each way in asks; at secrets in code, logs and answers; at how keys and random values are made and compared.
3. For each suspicion, name who could use it, from where, and what they would get. What needs rights that already allow the same, what only tests run, and what you cannot follow to its end is left out.

Report each weakness, the worst first: file and line, kind, how severe, the way an attack would go, and how to mend it. If there is none, say so, and say what you looked at.`,

  simplify: `Make a change simpler without changing what it does, and without looking for errors in it.

1. Find the change: what was asked for below, or else what this branch has beyond the one it will be merged into, and what is not committed yet (\`git status\`, \`git diff\`, \`git log\`).
2. Look in it for what the project already has and was written anew, for what can be left out, for names and shapes that make a reader stop, for work that is done twice, and for code that stands at the wrong level.
3. Mend what is clearly better afterwards, in small steps, in the style of the files. Run the checks and tests of the project that cover it.

End with what you made simpler and what you left as it is, with the reason.`,
};

export function promptText(name: string, args: string): string {
  const asked = args.trim() === "" ? "" : `\n\nWhat was asked for: ${args.trim()}`;
  return `${texts[name === "code-review" ? "review" : name] ?? ""}${asked}`;
}
