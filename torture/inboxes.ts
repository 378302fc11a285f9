import { liveAtRandom } from "../test/inbox/lives.ts";
import { Tally } from "./report.ts";

/** Processes that hand in, cancel and interrupt prompts of one session at random, and are killed: nothing accepted is lost or begun twice. */
export async function killInboxes(options: { project: string; sessions: number; seed: number }): Promise<Tally> {
  const tally = new Tally("prompts of killed processes");
  for (let session = 0; session < options.sessions; session++) {
    const seed = options.seed + session;
    const { kills, broken } = await liveAtRandom(options.project, seed, 6);
    for (const promise of broken) tally.violate(`seed ${seed}: ${promise}`);
    tally.count("sessions");
    tally.count("kills", kills);
  }
  return tally;
}
