import type { ServerForm } from './forms.ts';
import type { Front } from './front.ts';
import type { Peer } from './peer.ts';
import type { Way } from './ways.ts';

/** A client that is connected to a server through the front. */
export interface Meeting {
  form: ServerForm;
  way: Way;
  isModern: boolean;
  peer: Peer;
  front: Front;
}

/** Something of MCP that passes through the front. */
export interface Feature {
  /** What holds, in words. */
  rule: string;
  /** Where it holds; everywhere by default. */
  where?(at: Omit<Meeting, 'peer' | 'front'>): boolean;
  prove(meeting: Meeting): Promise<void>;
}

/** Revisions that begin with `initialize`. */
export const inLegacy = ({ isModern }: Pick<Meeting, 'isModern'>): boolean => !isModern;

/** 2026-07-28. */
export const inModern = ({ isModern }: Pick<Meeting, 'isModern'>): boolean => isModern;
