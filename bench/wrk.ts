import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Load } from './requests.ts';
import { cores, processorMicroseconds, type ServerProcess } from './server-process.ts';
import type { Measured } from './turns.ts';

const run = promisify(execFile);

const report = `done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('REPORT{"requests":%d,"micros":%d,"refused":%d,"broken":%d,"p50":%f,"p99":%f}\\n',
    summary.requests, summary.duration, e.status, e.connect + e.read + e.write + e.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end`;

/** The load as a script of wrk: ids count up, sessions take turns. */
function script({ url, method, headers, body, sessions = [], tokens = [] }: Load): string {
  const quote = (text: string): string => JSON.stringify(text);
  const [before = '', after = ''] = body.split('__ID__');
  const sent = method === 'GET' ? 'nil' : `${quote(before)} .. count .. ${quote(after)}`;
  const fields = Object.entries(headers).map(([name, value]) => `[${quote(name)}]=${quote(value)}`);
  return [
    `local headers = {${fields.join(',')}}`,
    `local sessions = {${sessions.map(quote).join(',')}}`,
    `local tokens = {${tokens.map(quote).join(',')}}`,
    'local count = 0',
    'request = function()',
    '  count = count + 1',
    '  if #sessions > 0 then headers["Mcp-Session-Id"] = sessions[count % #sessions + 1] end',
    '  if #tokens > 0 then headers["Authorization"] = "Bearer " .. tokens[count % #tokens + 1] end',
    `  return wrk.format(${quote(method)}, ${quote(new URL(url).pathname)}, headers, ${sent})`,
    'end',
    report,
  ].join('\n');
}

/**
 * Drives a server from the core of the load.
 * @param folder where the script goes
 */
export async function runWrk(
  server: ServerProcess,
  load: Load,
  { folder, seconds, connections }: { folder: string; seconds: number; connections: number },
): Promise<Measured> {
  const file = join(folder, `load-${server.port}.lua`);
  await writeFile(file, script(load));
  const before = processorMicroseconds(server);
  const { stdout } = await run(
    'taskset',
    [
      ...['-c', cores.load, 'wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s'],
      ...['-s', file, new URL(load.url).origin],
    ],
    { timeout: (seconds + 30) * 1000 },
  );
  const used = processorMicroseconds(server) - before;
  const line = /REPORT(\{.*\})/.exec(stdout)?.[1];
  if (line === undefined) throw new Error(`wrk reported nothing: ${stdout.slice(0, 400)}`);
  const { requests, micros, ...seen } = JSON.parse(line) as Record<'requests' | 'micros', number> &
    Pick<Measured, 'p50' | 'p99' | 'refused' | 'broken'>;
  const tookSeconds = micros / 1_000_000;
  return {
    seconds: tookSeconds,
    perSecond: requests / tookSeconds,
    processorMicros: used / requests,
    ...seen,
  };
}
