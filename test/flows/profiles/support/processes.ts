import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Errand, Reply } from './refreshing-process.ts';

/** Processes of one install of a client, which know nothing of each other. */
export interface Processes {
  /** Has each of them send the same request, all at once; gives their replies. */
  sendAll(errand: Errand): Promise<Reply[]>;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('refreshing-process.ts', import.meta.url));

/** Starts processes. @param count how many */
export async function startProcesses(count: number): Promise<Processes> {
  const children: ChildProcess[] = Array.from({ length: count }, () => fork(program));
  await Promise.all(children.map((child) => once(child, 'message')));
  return {
    async sendAll(errand) {
      const replies = children.map((child) => once(child, 'message'));
      for (const child of children) child.send(errand);
      return (await Promise.all(replies)).map(([reply]) => reply as Reply);
    },
    async stop() {
      const ended = children.map((child) => once(child, 'exit'));
      for (const child of children) child.kill();
      await Promise.all(ended);
    },
  };
}
