import { expect, test } from 'vitest';
import { isLegacyPost } from '../../../src/mcp/http/dispatch.ts';
import { type Messages, readMessages } from '../../../src/mcp/reading/messages.ts';

const claim = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const isLegacy = (value: unknown, headers: Record<string, string> = {}): boolean =>
  isLegacyPost(headers, { value, messages: readMessages(value) as Messages });
const call = (params: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'x', ...params },
});
const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'x' };

test('a message without a claim is legacy, with a header of a legacy revision or none (B5-16)', () => {
  expect(isLegacy(call())).toBe(true);
  expect(isLegacy(call(), { 'mcp-protocol-version': '2025-06-18' })).toBe(true);
  expect(isLegacy({ jsonrpc: '2.0', method: 'notifications/initialized' })).toBe(true);
  expect(isLegacy({ jsonrpc: '2.0', id: 1, result: {} })).toBe(true);
  expect(isLegacy([call()])).toBe(true);
});

test('a message with the claim is modern, with its headers or without them (T-133)', () => {
  expect(isLegacy(call({ _meta: claim }), modern)).toBe(false);
  expect(isLegacy(call({ _meta: claim }))).toBe(false);
  expect(isLegacy(call({ _meta: claim }), { 'mcp-protocol-version': '2025-06-18' })).toBe(false);
});

test('a header of the modern revision makes a message without the claim modern, so that it is refused there (T-133)', () => {
  expect(isLegacy(call(), modern)).toBe(false);
});
