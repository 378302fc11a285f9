export const usage = `Usage:
  outrider batch FILE|DIR|- [--out results/] [FLAGS]
                       runs every task: JSON lines, a JSON list, a table (.csv), a folder of such files or of Harbor tasks, or stdin
  outrider batch --resume [--out results/]
                       goes on after a crash or a stop: what has a result is not repeated, what ran goes on from its journal
  outrider batch status DIR [--json]       how far it is, and who asks something
  outrider batch cancel DIR [ID…]          all that is not finished, or these
  outrider batch retry DIR [ID…]           runs again what did not pass, or these
  outrider batch approve DIR ID [--deny]   answers what a task asks that has "approvals": true

Tasks. A line is {"id", "prompt", "cwd" | "git" | "seed", "model" | "models", "tools", "allowedTools", "disallowedTools", "permissionMode",
"schema", "maxTurns", "maxBudgetUsd", "deadline", "attachments", "check", "repetitions"}; other fields are labels. Flags hold for tasks
that do not say it themselves:
  --prompt TEMPLATE    with {{column}} for values of the row
  --model MODEL        several times: every task with each of them
  --provider NAME      --cwd DIR            --git REPOSITORY#COMMIT
  --tools LIST         --allowedTools LIST  --disallowedTools LIST  --permission-mode MODE
  --check COMMAND      its exit code decides whether the task passed
  --repetitions N      --max-turns N        --deadline TIME         --task-budget USD

Batch.
  --out DIR            results.jsonl, journals/, trajectories/, patches/, junit.xml, summary.json; results when absent
  --concurrency N|auto how many at once; auto is 8 per processor, 64 at most
  --processes N        in so many child processes; one that dies is replaced and loses nothing
  --max-budget USD     for the whole batch: no request is begun when it is spent
  --rpm [PROVIDER=]N   requests per minute, of all runs together; --tpm for tokens. Less where the provider answers 429
  --retry KIND=N       tries again: check, deadline, max-turns or the code of an error; provider failures are tried twice more
  --fail-fast          the first that does not pass ends the batch
  --bare               no settings, instructions, hooks or servers of folders and the user
  --keep-workspaces    folders that were made for tasks stay
  --report             a page for each run and report/index.html in the folder, which lists, sorts and groups them
  --engine restate     by workers elsewhere: --ingress URL --admin URL --store ADDRESS [--service NAME], see outrider worker --help
  --tenant NAME        whose runs they are on the engine: a tenant may have a limit of its own (outrider fleet limit)
  --quiet, --json      no progress; the summary as JSON

Pages of all runs: outrider report results/journals. Two batches: outrider compare A B.

Exit codes: 0 all passed · 1 some did not · 64 wrong usage · 66 no tasks, no batch · 78 cannot be run · 124 stopped · 137 budget spent
`;
