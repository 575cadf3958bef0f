import type { JsonRpcError } from '../protocol.ts';

/** Something only its person can give before a call can be served, and where they give it. */
export interface MissingInput {
  /** Names what is missing, for the client that asks its person. */
  name: string;
  /** Unique key among all missing input. */
  key: string;
  /** Message for the user beside the URL. */
  message: string;
  /** Page on which the user provides it; the page requires a login, so the URL opens nothing by itself (C7-04). */
  url: string;
  /** Returns true if they have given it. It is looked often. */
  isGiven(): Promise<boolean>;
}

const ofErrors = new WeakMap<object, MissingInput>();

/** Records missing input if a call is rejected with an error: clients that can open URLs get a request instead. */
export function withMissingInput(error: JsonRpcError, missing: MissingInput): JsonRpcError {
  ofErrors.set(error, missing);
  return error;
}

/** Returns the missing input if a call was rejected with this very error. No server's own error is one of these. */
export function missingInputOf(error: object | undefined): MissingInput | undefined {
  return error && ofErrors.get(error);
}
