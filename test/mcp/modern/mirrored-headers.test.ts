import { describe, expect, it } from 'vitest';
import { parseExact } from '../../../src/collections/exact-json.ts';
import {
  checkMirroredHeaders,
  checkMirroredParameters,
  type MirroredParameter,
} from '../../../src/mcp/modern/mirrored-headers.ts';
import type { RequestMessage } from '../../../src/mcp/protocol.ts';

const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
const request = (method: string, params: Record<string, unknown> = {}): RequestMessage => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params: { ...params, _meta },
});
const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

describe('the headers every request repeats (B5-03, B5-04, T-132)', () => {
  const version = { 'mcp-protocol-version': '2026-07-28' };
  const call = { ...version, 'mcp-method': 'tools/call' };
  const calling = request('tools/call', { name: 'grüße' });

  it.each([
    ['encoded name', { ...call, 'mcp-name': base64('grüße') }, calling],
    ['plain name', { ...call, 'mcp-name': 'a b' }, request('tools/call', { name: 'a b' })],
    ['white space around', { ...call, 'mcp-name': ' \ta ' }, request('tools/call', { name: 'a' })],
    [
      'URI',
      { ...version, 'mcp-method': 'resources/read', 'mcp-name': 'a:b' },
      request('resources/read', { uri: 'a:b' }),
    ],
    [
      'task',
      { ...version, 'mcp-method': 'tasks/get', 'mcp-name': 't' },
      request('tasks/get', { taskId: 't' }),
    ],
    ['no name where the method has none', { ...version, 'mcp-method': 'tools/list' }, request('tools/list')],
    ['no name where the body has none', call, request('tools/call')],
  ])('are right with %s', (_what, headers, message) => {
    expect(checkMirroredHeaders(headers, message)).toBeUndefined();
  });

  it.each([
    ['no version', { 'mcp-method': 'tools/call', 'mcp-name': 'a' }, 'MCP-Protocol-Version'],
    [
      'another version',
      { ...call, 'mcp-protocol-version': '2025-11-25', 'mcp-name': 'a' },
      'MCP-Protocol-Version',
    ],
    ['no method', { ...version, 'mcp-name': 'a' }, 'Mcp-Method'],
    ['another method', { ...version, 'mcp-method': 'tools/list', 'mcp-name': 'a' }, 'Mcp-Method'],
    ['the method in other case', { ...version, 'mcp-method': 'Tools/Call', 'mcp-name': 'a' }, 'Mcp-Method'],
    [
      'the method twice',
      { ...version, 'mcp-method': 'tools/call, tools/call', 'mcp-name': 'a' },
      'Mcp-Method',
    ],
    ['no name', call, 'Mcp-Name'],
    ['another name', { ...call, 'mcp-name': 'b' }, 'Mcp-Name'],
    ['the name in other case', { ...call, 'mcp-name': 'A' }, 'Mcp-Name'],
    ['broken base64', { ...call, 'mcp-name': '=?base64?YQ?=' }, 'Mcp-Name'],
    ['the sentinel in other case', { ...call, 'mcp-name': '=?BASE64?YQ==?=' }, 'Mcp-Name'],
    ['base64 of no text', { ...call, 'mcp-name': '=?base64?/w==?=' }, 'Mcp-Name'],
    ['bytes beyond ASCII', { ...call, 'mcp-name': 'ä' }, 'Mcp-Name'],
  ])('are refused with %s', (_what, headers, header) => {
    expect(checkMirroredHeaders(headers, request('tools/call', { name: 'a' }))?.header).toBe(header);
  });

  it('look methods and names up as names (T-137)', () => {
    const headers = { ...version, 'mcp-method': 'constructor' };
    expect(checkMirroredHeaders(headers, request('constructor'))).toBeUndefined();
  });
});

describe('the parameters a tool mirrors in headers (B5-08, B5-10, T-132)', () => {
  const parameter = (name: string, type: string, path = [name]): MirroredParameter => ({
    path,
    headerName: name,
    type,
  });
  const parameters = [
    parameter('Region', 'string', ['region']),
    parameter('Size', 'integer', ['box', 'size']),
    parameter('Deep', 'boolean', ['deep']),
  ];

  it.each<[string, Record<string, string>, unknown]>([
    ['nothing said', {}, {}],
    ['null said', {}, { region: null }],
    ['no arguments', {}, undefined],
    ['a string', { 'mcp-param-region': 'eu' }, { region: 'eu' }],
    ['an encoded string', { 'mcp-param-region': base64(' eu ') }, { region: ' eu ' }],
    [
      'a string that looks encoded',
      { 'mcp-param-region': base64('=?base64?x?=') },
      { region: '=?base64?x?=' },
    ],
    ['an empty string', { 'mcp-param-region': '' }, { region: '' }],
    ['an integer', { 'mcp-param-size': '42' }, { box: { size: 42 } }],
    ['an integer written otherwise', { 'mcp-param-size': '42.0' }, { box: { size: 42 } }],
    ['a boolean', { 'mcp-param-deep': 'false' }, { deep: false }],
    ['a header nobody declared', { 'mcp-param-other': 'x' }, {}],
  ])('are right with %s', (_what, headers, given) => {
    expect(checkMirroredParameters(headers, parameters, given)).toBeUndefined();
  });

  it.each<[string, Record<string, string>, unknown]>([
    ['a missing header', {}, { region: 'eu' }],
    ['another value', { 'mcp-param-region': 'us' }, { region: 'eu' }],
    ['a header twice', { 'mcp-param-region': 'eu, eu' }, { region: 'eu' }],
    ['a header without a value', { 'mcp-param-region': 'eu' }, {}],
    ['a header where the value is null', { 'mcp-param-region': 'eu' }, { region: null }],
    ['a header of an inherited value', { 'mcp-param-proto': 'x' }, {}],
    ['another integer', { 'mcp-param-size': '43' }, { box: { size: 42 } }],
    ['a missing integer', {}, { box: { size: 42 } }],
    ['an integer in hex', { 'mcp-param-size': '0x2a' }, { box: { size: 42 } }],
    ['an integer with a sign', { 'mcp-param-size': '+42' }, { box: { size: 42 } }],
    ['a missing header of a number for a text', {}, { region: parseExact('1.0').value }],
    ['another number for a text', { 'mcp-param-region': '1' }, { region: parseExact('1.0').value }],
    ['a boolean in other case', { 'mcp-param-deep': 'True' }, { deep: true }],
  ])('are refused with %s', (_what, headers, given) => {
    const inherited = parameter('Proto', 'string', ['__proto__', 'x']);
    expect(checkMirroredParameters(headers, [...parameters, inherited], given)?.header).toMatch(
      /^Mcp-Param-/,
    );
  });
});
