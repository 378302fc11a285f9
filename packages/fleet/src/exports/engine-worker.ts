/** The program of a worker process: `outrider worker --processes N` starts it. */
import { workForEngine } from "../operate/work-for-engine.ts";

workForEngine();
