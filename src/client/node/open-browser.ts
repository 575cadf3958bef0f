import { spawn } from 'node:child_process';
import { requireUrl } from '../url-policy.ts';

/** A program and its arguments, as `spawn` takes them: no shell reads them. */
export interface BrowserCommand {
  command: string;
  args: string[];
}

/**
 * Chooses the program that opens a URL: `$BROWSER`, else the platform's own; that of Windows under WSL.
 * @param url an http(s) URL
 * @param platform `process.platform`
 * @param env environment variables
 * @throws ClientError `bad_url` for anything but http(s)
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
 * @returns whether the program could be started
 * @throws ClientError `bad_url` for anything but http(s) (T-182)
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
