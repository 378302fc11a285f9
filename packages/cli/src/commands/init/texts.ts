import type { Purpose, Survey } from "./survey.ts";

const headings: readonly (readonly [Purpose, string])[] = [
  ["install", "Install"],
  ["build", "Build"],
  ["test", "Test"],
  ["check", "Check"],
];

/** Instructions for agents, with what was found and a place for what only people know. */
export function toInstructions({ name, commands, folders, managers }: Survey): string {
  const lines = headings.flatMap(([purpose, heading]) => {
    const own = commands.filter((command) => command.purpose === purpose).map(({ command }) => `\`${command}\``);
    return own.length > 0 ? [`- ${heading}: ${own.join(", ")}`] : [];
  });
  return [
    `# ${name}`,
    "",
    "What an agent has to know that works on this project. Keep it short: all of it goes into every conversation.",
    "",
    "## Commands",
    "",
    ...(lines.length > 0 ? lines : ["Nothing was found that builds or tests this project. Write here how that is done."]),
    ...(managers.length > 1 ? ["", `Used here: ${managers.join(", ")}.`] : []),
    ...(folders.length > 0 ? ["", "## Layout", "", ...folders.map((folder) => `- \`${folder}/\``)] : []),
    "",
    "## Rules",
    "",
    lines.some((line) => line.startsWith("- Test"))
      ? "- Run the tests before you say that something is done."
      : "- Say how you have checked what you changed.",
    "",
  ].join("\n");
}

const presets: Readonly<Record<string, string>> = { uv: "python", poetry: "python", pipenv: "python", pip: "python" };

/** What may run unasked once the project is trusted, and what is never read. Installing is not in it: it runs the scripts of others. */
export function toSettings({ managers }: Survey): string {
  const allow = [...new Set(managers.map((manager) => `preset:${presets[manager] ?? manager}`))];
  return `${JSON.stringify({ permissions: { allow, deny: ["Read(./.env)", "Read(./.env.*)"] } }, null, 2)}\n`;
}

/** The first recipe of docs/ci.md: a review that only looks. */
export function githubRecipe(version: string): string {
  return `name: Review
on: pull_request
permissions:
  contents: read
  pull-requests: write
jobs:
  review:
    if: github.event.pull_request.head.repo.full_name == github.repository
    runs-on: ubuntu-latest
    timeout-minutes: 20
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
          persist-credentials: false
      - run: npm install --global outrider@${version}
      - name: Review
        env:
          ANTHROPIC_API_KEY: \${{ secrets.ANTHROPIC_API_KEY }}
          BASE: \${{ github.event.pull_request.base.sha }}
          TITLE: \${{ github.event.pull_request.title }}
        run: |
          git diff "$BASE...HEAD" > "$RUNNER_TEMP/change.diff"
          {
            printf 'The title is: %s\\n\\n' "$TITLE"
            head -c 400000 "$RUNNER_TEMP/change.diff"
          } > "$RUNNER_TEMP/change.txt"
          outrider -p "Review this change. Name bugs with file and line; say nothing about style." \\
            --permission-mode plan --setting-sources user \\
            --max-turns 30 --max-budget-usd 2 --deadline 15m \\
            < "$RUNNER_TEMP/change.txt" > "$RUNNER_TEMP/review.md"
      - name: Comment
        env:
          GH_TOKEN: \${{ github.token }}
          NUMBER: \${{ github.event.pull_request.number }}
        run: gh pr comment "$NUMBER" --body-file "$RUNNER_TEMP/review.md"
`;
}

export function gitlabRecipe(version: string): string {
  return `review:
  image: node:22
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  timeout: 20 minutes
  variables:
    GIT_DEPTH: 0
    OUTRIDER_SUMMARY: outrider.md
    OUTRIDER_OUTPUT: outrider.env
  before_script:
    - npm install --global outrider@${version}
  script:
    - git fetch origin "$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"
    - git diff FETCH_HEAD...HEAD > change.diff
    - outrider -p "Review this change" - --permission-mode plan --setting-sources user --max-turns 30 --deadline 15m < change.diff > review.md
  artifacts:
    when: always
    paths: [review.md, outrider.md]
    reports:
      dotenv: outrider.env

cost:
  needs: [review]
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
      when: always
  script:
    - echo "$OUTRIDER_OUTCOME after $OUTRIDER_NUM_TURNS turns, $OUTRIDER_COST_USD dollars"
`;
}
