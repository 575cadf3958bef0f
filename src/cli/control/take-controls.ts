import { unwatchFile, watchFile } from 'node:fs';
import type { Gatehouse } from '../../index.ts';
import { serveControls } from './control-server.ts';

/** What a running server is controlled by. */
export interface ControlledServer {
  dataFolder: string;
  /** Files that hold its settings. */
  files: readonly string[];
  /** Reads the settings again. @throws SettingsRefused */
  load: Parameters<Gatehouse['reload']>[0];
  gatehouse: Pick<Gatehouse, 'routes' | 'reload'>;
  /** Told where commands cannot reach the server; it goes on. */
  warn: (sentence: string) => void;
  /** Told what is not carried over between the processes of a data folder, if there are others. */
  warnOfOthers: (pids: readonly number[], sentence: string) => void;
}

/** What a second process on a data folder has to know (FA-37). */
const notCarriedOver =
  'another process serves this data folder: list changes, resource updates, cancellations and messages for a stream do not reach clients at the other process; have the proxy send each MCP session to the process that began it, or run one process';

/**
 * Takes what an operator tells a running server: by commands, by SIGHUP, and by a config file that is written anew. At a
 * terminal SIGHUP ends the server as before: there it says that the terminal was closed.
 * @returns ends it
 */
export async function takeControls(controlled: ControlledServer): Promise<() => void> {
  const { dataFolder, files, load, gatehouse, warn, warnOfOthers } = controlled;
  const reload = (cause: string) => gatehouse.reload(load, cause);
  const onSignal = (): void => void reload('SIGHUP');
  if (!process.stdin.isTTY) process.on('SIGHUP', onSignal);
  const watches = files.map((file) => watchForChanges(file, () => void reload(`${file} changed`)));
  const stopServing = await serveControls(
    dataFolder,
    { routes: () => gatehouse.routes(), reload: () => reload('gatehouse reload') },
    ({ message }) => warn(`gatehouse routes and gatehouse reload cannot reach this server: ${message}.`),
    (pids) => warnOfOthers(pids, notCarriedOver),
  );
  return () => {
    process.off('SIGHUP', onSignal);
    for (const stop of watches) stop();
    stopServing();
  };
}

/** How often the file is looked at, in milliseconds. It is looked at by name: editors and Kubernetes put new files there. */
const lookEveryMs = 1000;

/**
 * Calls back when a file was written anew.
 * @returns stops it
 */
export function watchForChanges(file: string, changed: () => void): () => void {
  const look = (now: { mtimeMs: number; ino: number; size: number }, before: typeof now): void => {
    const isOther = now.mtimeMs !== before.mtimeMs || now.ino !== before.ino || now.size !== before.size;
    // One that is gone is about to be written by an editor, or a mistake; there is nothing to read.
    if (isOther && now.ino !== 0) changed();
  };
  watchFile(file, { interval: lookEveryMs, persistent: false }, look);
  return () => unwatchFile(file, look);
}
