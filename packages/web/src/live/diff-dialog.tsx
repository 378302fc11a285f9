import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { toldEdits } from "../model/edits.ts";
import { day, plural } from "../page/format.ts";
import { Icon } from "../page/icons.tsx";
import { Diff } from "../page/output.tsx";
import { plain } from "../page/text.tsx";
import type { Api } from "./api.ts";
import { Dialog } from "./dialog.tsx";

type ToldDiff = { readonly files: readonly (Parameters<typeof toldEdits>[0] & object)[]; readonly commands: number };
type Checkpoint = {
  readonly id: string;
  readonly kind: string;
  readonly at: string;
  readonly prompt?: string;
  readonly fileCount: number;
};
type Plan = {
  readonly changes: readonly { shown: string; action: string }[];
  readonly conflicts: readonly { shown: string; reason: string }[];
};

/** What the session has changed, and the ways back. */
export function DiffDialog({
  api,
  sessionId,
  isWorking,
  onClose,
}: {
  api: Api;
  sessionId: string;
  isWorking: boolean;
  onClose: () => void;
}): JSX.Element {
  const [diff, setDiff] = useState<ToldDiff>();
  const [checkpoints, setCheckpoints] = useState<readonly Checkpoint[]>([]);
  const [said, say] = useState("");
  const base = `/v1/sessions/${sessionId}`;
  const load = async (): Promise<void> => {
    try {
      setDiff(await api.get<ToldDiff>(`${base}/diff`));
      const { checkpoints: all } = await api.get<{ checkpoints: Checkpoint[] }>(`${base}/checkpoints`);
      setCheckpoints(all.filter(({ fileCount, kind }) => fileCount > 0 && kind === "turn").reverse());
    } catch (error) {
      say((error as Error).message);
    }
  };
  useEffect(() => void load(), []);
  const goBack = async ({ id }: Checkpoint, isForced: boolean): Promise<void> => {
    const path = `${base}/checkpoints/${id}/restore`;
    try {
      const result = await api.send<{ type: string; plan: Plan }>("POST", path, { rollback: true, force: isForced });
      say(describeRestore(result));
      await load();
    } catch (error) {
      say((error as Error).message);
    }
  };
  const edits = toldEdits({ others: diff?.files ?? [] });
  return (
    <Dialog title="Changes so far" onClose={onClose} isWide>
      <p class="status" role="status">
        {said}
      </p>
      {!diff && said === "" && <p class="dimmer">Loading the diff</p>}
      {diff && edits.length === 0 && <p class="dimmer">The files that the session wrote are as they were before it.</p>}
      {edits.map((edit) => (
        <Diff key={edit.path} edit={edit} />
      ))}
      {diff && diff.commands > 0 && (
        <p class="note note-warn">
          <Icon name="warn" />
          <span>{plural(diff.commands, "command")} ran. What commands changed is not shown here, and not put back.</span>
        </p>
      )}
      {checkpoints.length > 0 && (
        <>
          <h3>Go back</h3>
          <ul class="backs">
            {checkpoints.map((one) => (
              <Back key={one.id} checkpoint={one} isDisabled={isWorking} onGo={(isForced) => void goBack(one, isForced)} />
            ))}
          </ul>
          {isWorking && <p class="dimmer">Files are put back only while the agent rests: stop it first.</p>}
        </>
      )}
    </Dialog>
  );
}

function Back({
  checkpoint,
  isDisabled,
  onGo,
}: {
  checkpoint: Checkpoint;
  isDisabled: boolean;
  onGo: (isForced: boolean) => void;
}): JSX.Element {
  const [isSure, setSure] = useState(false);
  return (
    <li>
      <span class="grow trunc" title={checkpoint.prompt}>
        Before “{plain(checkpoint.prompt?.split("\n", 1)[0] ?? checkpoint.id)}”{" "}
        <span class="dimmer">
          {day(checkpoint.at)}, {plural(checkpoint.fileCount, "file")}
        </span>
      </span>
      {isSure ? (
        <>
          <button type="button" class="btn btn-danger" disabled={isDisabled} onClick={() => onGo(false)}>
            Put the files back
          </button>
          <button type="button" class="btn btn-quiet" onClick={() => setSure(false)}>
            Keep them
          </button>
        </>
      ) : (
        <button type="button" class="btn" disabled={isDisabled} onClick={() => setSure(true)}>
          <Icon name="undo" class="i-s" />
          Go back
        </button>
      )}
    </li>
  );
}

function describeRestore({ type, plan }: { type: string; plan: Plan }): string {
  if (type === "restored") return `${plural(plan.changes.length, "file")} put back. This too can be undone.`;
  if (type === "unchanged") return "The files are as they were already.";
  const why = plan.conflicts.map(({ shown, reason }) => `${shown}: ${reason}`).join("; ");
  return `Nothing was changed. ${why}`;
}
