import { describe, expect, it } from 'vitest';
import { patience } from '../../support/patience.ts';
import { modernRequest, startGate } from '../support/gate.ts';

const size = 4_000_000;
const repeat = (text: string): string => text.repeat(Math.floor(size / text.length));
const numbered = (count: number, write: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => write(at)).join(',');

const request = (params: string, id = '1', method = 'tools/call'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`;
const withArguments = (value: string): string => request(`{"name":"whoami","arguments":${value}}`);

const bodies: [string, string][] = [
  ['a long array', `[${repeat('1,')}1]`],
  ['many arguments', withArguments(`{${numbered(250_000, (at) => `"k${at}":1`)}}`)],
  ['many parameters', request(`{"name":"whoami",${numbered(250_000, (at) => `"k${at}":1`)}}`)],
  [
    'as many members as allowed',
    request(`{"name":"whoami","_meta":{${numbered(49_000, (at) => `"${at}${'k'.repeat(70)}":1`)}}}`),
  ],
  ['many metadata', request(`{"name":"whoami","_meta":{${numbered(250_000, (at) => `"k${at}":1`)}}}`)],
  ['many arrays', withArguments(`{"a":[${repeat('[],')}[]]}`)],
  [
    'nesting just within the limit, often',
    withArguments(`{"a":[${repeat(`${'['.repeat(90)}${']'.repeat(90)},`)}1]}`),
  ],
  ['a long id', request('{"name":"whoami"}', `"${repeat('x')}"`)],
  ['a long method', request('{}', '1', repeat('m/'))],
  ['a long tool name', request(`{"name":"${repeat('x')}"}`)],
  ['a long query', request(`{"name":"search_notes","arguments":{"query":"${repeat('x')}"}}`)],
  ['a long URI', request(`{"uri":"notes://${repeat('%41')}"}`, '1', 'resources/read')],
  ['a URI of commas', request(`{"uri":"notes://${repeat('1,')}X"}`, '1', 'resources/read')],
  ['numbers without end', withArguments(`{"a":${repeat('9')}}`)],
  ['the same name again and again', withArguments(`{${repeat('"a":1,')}"a":1}`)],
  ['escapes', withArguments(`{"a":"${repeat('\\u0061')}"}`)],
];

describe.each(bodies)('4 MB of %s', (_what, body) => {
  it('in a session are answered within a second and harm nothing (T-135, T-147)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const headers = { 'mcp-session-id': await gate.initialize(token) };
    const started = performance.now();
    const response = await gate.send(token, { headers, body });
    await response.text();
    expect(performance.now() - started).toBeLessThan(patience(1000));
    expect(response.status).toBeLessThan(500);
    expect((await gate.call(token, headers['mcp-session-id'], 'ping', {}, 'after')).result).toEqual({});
  });

  it('the way of 2026-07-28 are answered within a second (T-135, T-147)', async () => {
    const gate = await startGate();
    const token = gate.issue('ann');
    const { headers = {}, json } = modernRequest('tools/call', { name: 'whoami' });
    const { _meta } = (json as { params: { _meta: unknown } }).params;
    const modernBody = body.replace('"params":{', `"params":{"_meta":${JSON.stringify(_meta)},`);
    const started = performance.now();
    const response = await gate.send(token, { headers, body: modernBody });
    await response.text();
    expect(performance.now() - started).toBeLessThan(patience(1000));
    expect(response.status).toBeLessThan(500);
  });
});
