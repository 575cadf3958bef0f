import type { Exchange } from './record.ts';
import { markerPattern } from './redact.ts';

function variable(name: string): string {
  return name.toUpperCase();
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Escapes a string for curl's config file inside a here-document that expands variables; each has escapes of
 * its own.
 */
function configString(text: string): string {
  const escapes: Record<string, string> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
  return text
    .split(markerPattern)
    .map((part, at) =>
      at % 2 === 1
        ? `\${${variable(part)}}`
        : part
            .replace(/[\\"\n\r\t]/g, (character) => escapes[character] ?? character)
            .replace(/[\\$`]/g, (character) => `\\${character}`),
    )
    .join('');
}

/**
 * Formats an exchange as a curl command for a POSIX shell. Secrets are named variables to set first. They
 * reach curl on standard input, so that no process list shows them (T-191).
 * @param exchange a recorded exchange
 * @returns the command, after a comment that names the variables, if any
 */
export function toCurl({ request }: Exchange): string {
  const { method, url, headers, body } = request;
  const options: [string, string][] = [
    ...(method === 'GET' ? [] : ([['request', method]] as [string, string][])),
    ['url', url],
    ...headers.map(([name, value]): [string, string] => ['header', `${name}: ${value}`]),
    ...(body === undefined ? [] : ([['data-raw', body]] as [string, string][])),
  ];
  const names = new Set(
    options.flatMap(([, value]) => [...value.matchAll(markerPattern)].map(([, name = '']) => variable(name))),
  );
  if (names.size === 0)
    return [
      'curl --silent --show-error --include',
      ...options.map(([name, value]) => `  --${name} ${singleQuoted(value)}`),
    ].join(' \\\n');
  return [
    `# Set first: ${[...names].join(' ')}`,
    'curl --silent --show-error --include --config - <<END',
    ...options.map(([name, value]) => `${name} = "${configString(value)}"`),
    'END',
  ].join('\n');
}
