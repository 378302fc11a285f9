import { type ErrorCode, type ErrorData, toRuntimeError, toShownError } from "../../protocol/errors.ts";

export type RpcError = { readonly code: number; readonly message: string; readonly data: Omit<ErrorData, "message"> };

/** A failure as JSON-RPC tells it; `data` has our own code and what to do next. */
export function toRpcError(thrown: unknown): RpcError {
  const { message, ...data } = toShownError(toRuntimeError(thrown).toJSON());
  return { code: rpcCodes[data.code] ?? internalError, message, data };
}

/** As the protocol numbers them. */
const invalidRequest = -32600;
const invalidParams = -32602;
const internalError = -32603;
const authRequired = -32000;
const resourceNotFound = -32002;

const rpcCodes: Partial<Record<ErrorCode, number>> = {
  usage: invalidParams,
  "no-input": invalidParams,
  "not-found": resourceNotFound,
  busy: invalidRequest,
  closed: invalidRequest,
  "provider-auth": authRequired,
};
