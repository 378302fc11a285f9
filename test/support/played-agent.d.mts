import type { ModelRequest } from "../../packages/runtime/src/model/model.ts";
import type { ScriptedReply } from "../../packages/runtime/src/model/scripted.ts";

export declare function play(request: ModelRequest): ScriptedReply;
