import { unwatchFile, watchFile } from 'node:fs';
import type { Gatehouse } from '../../index.ts';
import { serveControls } from './control-server.ts';

/** Options of {@link takeControls}. */
export interface ControlledServer {
  dataFolder: string;
  /** Files that hold its settings. */
  files: readonly string[];
  /** Reads the settings again. @throws SettingsRefused */
  load: Parameters<Gatehouse['reload']>[0];
  gatehouse: Pick<Gatehouse, 'routes' | 'reload' | 'reloadOthers' | 'onReload'>;
  /** Called if commands cannot reach the server; the server runs on. */
  warn: (sentence: string) => void;
}

/**
 * Obeys the operator of a running server: commands, SIGHUP, and a changed config file. At a terminal SIGHUP still ends the
 * server, because there it means that the terminal was closed.
 * @returns ends it
 */
export async function takeControls(controlled: ControlledServer): Promise<() => void> {
  const { dataFolder, files, load, gatehouse, warn } = controlled;
  const reload = (cause: string) => gatehouse.reload(load, cause);
  const onSignal = (): void => void reload('SIGHUP');
  if (!process.stdin.isTTY) process.on('SIGHUP', onSignal);
  const watches = files.map((file) => watchForChanges(file, () => void reload(`${file} changed`)));
  const stopObeying = gatehouse.onReload(() => !('problems' in reload('gatehouse reload at another node')));
  const reloadAll = async () => {
    const outcome = reload('gatehouse reload');
    // The log says why the nodes could not be listed.
    const nodes = await gatehouse.reloadOthers().catch(() => null);
    return nodes?.length === 0 ? outcome : { ...outcome, nodes };
  };
  const stopServing = await serveControls(
    dataFolder,
    { routes: () => gatehouse.routes(), reload: reloadAll },
    ({ message }) => warn(`gatehouse routes and gatehouse reload cannot reach this server: ${message}.`),
  );
  return () => {
    process.off('SIGHUP', onSignal);
    stopObeying();
    for (const stop of watches) stop();
    stopServing();
  };
}

/** Poll interval of the file, in milliseconds. It is polled by name, because editors and Kubernetes replace the file. */
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
