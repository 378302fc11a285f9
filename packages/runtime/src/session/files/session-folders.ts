import { dirname, join } from "node:path";
import { shortChecksum } from "../../util/short-checksum.ts";
import { removeAtExit } from "../../util/temporary-folder.ts";
import { OwnFolder } from "../../workspace/own-folder.ts";
import type { SessionOptions } from "../session-options.ts";

/** The folders that a session makes for itself, on this machine. */
export type SessionFolders = {
  /** Where outputs are kept that are too long to show. */
  readonly overflow: string;
  /** TMPDIR of commands; absent where they run on another machine. */
  readonly temporary: OwnFolder | undefined;
  /** Where tasks that outlive their call leave what they print: beside the journal, so that it can be read as long as that. */
  tasks(journal: string | undefined): string;
  /** Takes charge of the folders that nobody named: they go with `remove`, at the latest with the process. */
  own(): { remove(): void };
};

export function sessionFolders(
  { overflowDirectory, sandboxClient }: SessionOptions,
  id: string,
  temporaryRoot: string,
): SessionFolders {
  const overflow = overflowDirectory ?? `${temporaryRoot}/outrider-${id}`;
  const temporary = sandboxClient ? undefined : new OwnFolder(temporaryPlaceOf(id, temporaryRoot));
  return {
    overflow,
    temporary,
    tasks: (journal) => (journal === undefined ? join(overflow, "tasks") : join(dirname(journal), "tasks", id)),
    own() {
      const removeOverflow = overflowDirectory === undefined && !sandboxClient ? removeAtExit(overflow) : undefined;
      return {
        remove() {
          removeOverflow?.();
          temporary?.remove();
        },
      };
    },
  };
}

/** Short: programs make sockets in there, whose paths may have some hundred characters. */
function temporaryPlaceOf(id: string, parent: string): string {
  return join(parent, `outrider-tmp-${shortChecksum(id)}${shortChecksum(`.${id}`)}`);
}
