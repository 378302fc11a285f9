/** The program of a worker process: `outrider batch --processes N` starts it. */
import { work } from "../batch/work.ts";

work();
