import type { JsonRpcError } from '../conversations/conversation.ts';

/** Something only its person can give before a call can be served, and where they give it. */
export interface MissingInput {
  /** Names what is missing, for the client that asks its person. */
  name: string;
  /** Tells it from everything else that is missing, of whomever. */
  key: string;
  /** What the person is told beside the URL. */
  message: string;
  /** The page of ours where they give it; they log in there, so it opens nothing by itself (C7-04). */
  url: string;
  /** Whether they have given it. It is looked often. */
  isGiven(): Promise<boolean>;
}

const ofErrors = new WeakMap<object, MissingInput>();

/** Notes what is missing where a call is refused with an error: clients that can open URLs are asked for it instead. */
export function withMissingInput(error: JsonRpcError, missing: MissingInput): JsonRpcError {
  ofErrors.set(error, missing);
  return error;
}

/** Gives what is missing where a call was refused with this very error. No error that a server wrote is one of these. */
export function missingInputOf(error: object | undefined): MissingInput | undefined {
  return error && ofErrors.get(error);
}
