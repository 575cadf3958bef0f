import type { Messages } from '../reading/messages.ts';
import type { Exchange } from './exchange.ts';
import type { Refusal } from './refusal.ts';

/** The body of a POST: the messages, and the JSON they were read from. */
export interface Posted {
  value: unknown;
  messages: Messages;
}

/**
 * Answers a request on `exchange.reply`, or says why not before anything was answered.
 * All transports over HTTP have this shape.
 */
export type Serve = (exchange: Exchange, posted?: Posted) => Promise<Refusal | undefined>;
