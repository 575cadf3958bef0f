import type { Frames, Message } from '../reading/frames.ts';

/** Writes a message, or an array of answers, as one line. */
export type WriteLine = (message: Message | readonly Message[]) => void;

/** The one MCP server on the other side of a stdio connection, in one era. */
export interface Link {
  /** Takes the messages of a line, one line after the other. Resolves when the next one may follow. */
  take(messages: Frames): Promise<void>;
  /** Ends it: running calls are aborted, and nothing more is written. */
  end(): Promise<void>;
}
