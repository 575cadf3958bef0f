import type { Workplace } from './workplace.ts';

/** A way of using a program that is tried. */
export const stepNames = ['one', 'second', 'prefix', 'sse', 'expired', 'restart', 'revoked'] as const;
export type StepName = (typeof stepNames)[number];

/** A program that people use, and how a person uses it. */
export interface ClientProgram {
  /** Its name on the command line. */
  name: string;
  title: string;
  /** What npm installs; the first is the program, whose version is reported. */
  packages: readonly [string, ...string[]];
  /** The transports it speaks; it is given the URL of the first. */
  transports: readonly ['http' | 'sse', ...('http' | 'sse')[]];
  /** Steps that it cannot do itself, each with the reason. */
  cannot?: Partial<Record<StepName, string>>;
  /** Settings of the Gatehouse that an operator would make for it. */
  settings?: object;
  /** Sets the program up with the bare URL. */
  open(at: Workplace): Promise<Session>;
}

/** A program that was set up. */
export interface Session {
  /** Logs in, if that is a command of its own. */
  logIn?(): Promise<void>;
  /**
   * Has the program call the tool `add_note` with a text.
   * @returns what came back
   * @throws Error if the call fails
   */
  call(text: string): Promise<string>;
  /** What the program offers to forget a login, for one that keeps a login the server has ended. */
  signOut?: { name: string; act(): Promise<void> };
  close?(): Promise<void>;
}
