import { existsSync } from 'node:fs';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a process runs, as far as a login has to know. */
export interface Surroundings {
  /** `local` where nothing speaks for one of the others. */
  place: 'ci' | 'codespaces' | 'ssh' | 'wsl' | 'container' | 'local';
  /** Whether a browser started here can be expected to show on the user's screen. */
  browser: boolean;
}

/** Files that container runtimes put into every container. */
const containerMarks = ['/.dockerenv', '/run/.containerenv'];

/** Whether `CI` and its like are set to something other than no. */
function isOn(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false', 'none'].includes(value.toLowerCase());
}

function placeOf(env: Environment, exists: (path: string) => boolean): Surroundings['place'] {
  if (isOn(env.CI)) return 'ci';
  if (isOn(env.CODESPACES)) return 'codespaces';
  if (env.SSH_CONNECTION || env.SSH_CLIENT || env.SSH_TTY) return 'ssh';
  if (env.WSL_DISTRO_NAME || env.WSL_INTEROP) return 'wsl';
  if (env.KUBERNETES_SERVICE_HOST || env.container || containerMarks.some(exists)) return 'container';
  return 'local';
}

/**
 * Finds out whether the user's browser can be opened from here. `$BROWSER` decides where it is set (`none` says no);
 * a pipeline has none, a shell over SSH only one that is forwarded to (CL-6).
 * @param env environment variables
 * @param platform `process.platform`
 * @param exists whether a file is there
 */
export function readSurroundings(
  env: Environment,
  platform: NodeJS.Platform = process.platform,
  exists: (path: string) => boolean = existsSync,
): Surroundings {
  const place = placeOf(env, exists);
  if (env.BROWSER !== undefined && env.BROWSER !== '') return { place, browser: isOn(env.BROWSER) };
  if (place === 'ci') return { place, browser: false };
  if (platform === 'darwin' || platform === 'win32') return { place, browser: place !== 'ssh' };
  return { place, browser: place === 'wsl' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY) };
}
