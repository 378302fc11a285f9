export const usage = `Usage:
  outrider batch FILE|DIR|- [--out results/] [FLAGS]
                       run every task from JSON lines, a JSON list, a table (.csv), a folder of such files or Harbor tasks, or stdin
  outrider batch --resume [--out results/]
                       continue after a crash or a stop: finished tasks are not repeated, running ones continue from their journal
  outrider batch status DIR [--json]       show progress and open questions
  outrider batch cancel DIR [ID…]          cancel all unfinished tasks, or these
  outrider batch retry DIR [ID…]           run tasks again that did not pass, or these
  outrider batch approve DIR ID [--deny]   answer a question of a task that has "approvals": true

Tasks. A line is {"id", "prompt", "cwd" | "git" | "seed", "model" | "models", "tools", "allowedTools", "disallowedTools", "permissionMode",
"schema", "maxTurns", "maxBudgetUsd", "deadline", "attachments", "check", "repetitions"}; other fields are labels. Flags apply to tasks
that do not set the field themselves:
  --prompt TEMPLATE    with {{column}} for values of the row
  --model MODEL        may be repeated: every task runs with each model
  --provider NAME      --cwd DIR            --git REPOSITORY#COMMIT
  --tools LIST         --allowedTools LIST  --disallowedTools LIST  --permission-mode MODE
  --check COMMAND      its exit code decides whether the task passed
  --repetitions N      --max-turns N        --deadline TIME         --task-budget USD

Batch.
  --out DIR            results.jsonl, journals/, trajectories/, patches/, junit.xml, summary.json (results)
  --concurrency N|auto how many at once; auto is 8 per processor, 64 at most
  --processes N        spread over N child processes; one that dies is replaced and loses nothing
  --max-budget USD     for the whole batch: no request starts once it is spent
  --rpm [PROVIDER=]N   requests per minute of all runs together; --tpm for tokens. Slows down when the provider answers 429
  --retry KIND=N       retry on check, deadline, max-turns or an error code; provider failures are retried twice anyway
  --fail-fast          end the batch at the first task that does not pass
  --bare               use no settings, instructions, hooks or servers of folders and the user
  --keep-workspaces    keep the folders that were created for tasks
  --report             also write a page per run and report/index.html, which lists, sorts and groups them
  --engine restate     run in workers elsewhere: --ingress URL --admin URL --store ADDRESS [--service NAME], see outrider worker --help
  --tenant NAME        whose runs these are on the engine; a tenant can have its own limit (outrider fleet limit)
  --quiet, --json      no progress; print the summary as JSON

Pages of all runs: outrider report results/journals. Two batches: outrider compare A B.

Exit codes: 0 all passed · 1 some did not · 64 wrong usage · 66 no tasks, no batch · 78 cannot be run · 124 stopped · 137 budget spent
`;
