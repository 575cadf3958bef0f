import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { requireUrl } from '../url-policy.ts';

/** A program and its arguments for `spawn`, without a shell. */
export interface BrowserCommand {
  command: string;
  args: string[];
}

/**
 * Chooses the program that opens a URL: `$BROWSER`, else that of the platform; under WSL that of Windows.
 * @param url an http(s) URL
 * @param platform `process.platform`
 * @param env environment variables
 * @throws ClientError `bad_url` for other URLs
 * @see MCP security best practices (A12-03, T-182)
 */
export function browserCommand(
  url: string,
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): BrowserCommand {
  const { href } = requireUrl(url, 'The URL to open', { dangerouslyAllowHttp: true });
  if (env.BROWSER) return { command: env.BROWSER, args: [href] };
  if (platform === 'darwin') return { command: 'open', args: [href] };
  if (env.WSL_DISTRO_NAME) return { command: 'rundll32.exe', args: ['url.dll,FileProtocolHandler', href] };
  if (platform === 'win32') return { command: 'rundll32', args: ['url.dll,FileProtocolHandler', href] };
  return { command: 'xdg-open', args: [href] };
}

/**
 * Opens a URL in the user's browser, without a shell.
 * @param url an http(s) URL
 * @param env environment variables
 * @returns true if the program could be started
 * @throws ClientError `bad_url` for other URLs (T-182)
 */
export async function openBrowser(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const { command, args } = browserCommand(url, process.platform, env);
  const child = spawn(command, args, { shell: false, stdio: 'ignore', detached: true, env: { ...env } });
  child.unref();
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => resolve(true));
  });
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of a process, as far as it matters for a login. */
export interface Surroundings {
  /** `local` if nothing indicates another one. */
  place: 'ci' | 'codespaces' | 'ssh' | 'wsl' | 'container' | 'local';
  /** True if a browser started here probably appears on the user's screen. */
  browser: boolean;
}

/** Files that container runtimes create in every container. */
const containerMarks = ['/.dockerenv', '/run/.containerenv'];

/** Checks if `CI` or a similar variable is set, and not to "no". */
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
 * Detects if the user's browser can be opened from here. `$BROWSER` decides if it is set (`none` means no); a
 * pipeline has no browser, a shell over SSH only a forwarded one (CL-6).
 * @param env environment variables
 * @param platform `process.platform`
 * @param exists checks if a file exists
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
