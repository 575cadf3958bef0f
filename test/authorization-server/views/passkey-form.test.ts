import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import {
  passkeyScriptSource,
  renderPasskeyLogin,
  renderPasskeyRegistration,
} from '../../../src/authorization-server/views/passkey-form.ts';

const form = { action: 'https://a.example/p', csrf: 'c', options: '{"a":"\\"<script>"}', name: 'My "key"' };

it('the name of a passkey stands in its field inert', () => {
  expect(String(renderPasskeyRegistration(en, form))).toContain('value="My &quot;key&quot;"');
});

describe.each([
  ['login', renderPasskeyLogin],
  ['registration', renderPasskeyRegistration],
])('the form of a %s with a passkey', (_kind, render) => {
  const html = String(render(en, form));

  it('is hidden until the script shows it', () => {
    expect(html).toMatch(/<form method="post" action="https:\/\/a\.example\/p"[^>]* hidden>/);
    expect(html).toContain('name="credential" value=""');
  });

  it('carries its options inert', () => {
    expect(html).toContain('data-options="{&quot;a&quot;:&quot;\\&quot;&lt;script&gt;&quot;}"');
  });

  it('has the one script whose hash the policy names (T-017)', () => {
    const [, script = ''] = /<script>([\s\S]*)<\/script>/.exec(html) ?? [];
    expect(passkeyScriptSource).toBe(`'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  });
});
