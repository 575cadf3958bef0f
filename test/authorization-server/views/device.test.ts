import { describe, expect, it } from 'vitest';
import { en } from '../../../src/authorization-server/texts/en.ts';
import { zhCn } from '../../../src/authorization-server/texts/zh-cn.ts';
import { renderDeviceCode, renderDeviceConfirm } from '../../../src/authorization-server/views/device.ts';
import { hostile, pageStructure } from './page-structure.ts';

const form = { action: '/device', csrf: 'csrf-1' };
const confirm = {
  ...form,
  client: { name: 'Claude Code', clientId: 'https://claude.ai/oauth/client.json' },
  resourceName: 'Team notes',
  device: { userCode: 'BCDF-GHJK', address: '203.0.113.7', askedSecondsAgo: 130 },
};

describe('renderDeviceCode', () => {
  it('asks for the code, and says whose start it must be (RFC 8628 section 5.4)', () => {
    const html = renderDeviceCode(en, form);
    expect(html).toContain('<input type="hidden" name="xsrf" value="csrf-1">');
    expect(html).toContain('name="user_code"');
    expect(html).toContain('Only continue if you started this yourself, on a device in front of you.');
    expect(html).toContain('If somebody sent you this link or a code, close this page.');
    expect(renderDeviceCode(zhCn, form)).toContain('请输入您的设备上显示的代码');
  });

  it('has a code that a link brought compared, not typed', () => {
    const html = renderDeviceCode(en, { ...form, linkedCode: 'BCDF-GHJK' });
    expect(html).toContain('Does your device show exactly this code?');
    expect(html).toContain('<p class="code">BCDF-GHJK</p>');
    expect(html).toContain('<input type="hidden" name="user_code" value="BCDF-GHJK">');
    expect(html).not.toContain('<input class="code"');
  });

  it('says what was wrong, and keeps what was typed', () => {
    const problem = en.device.problems.unknown;
    const html = renderDeviceCode(en, { ...form, typedCode: 'BCDF', problem });
    expect(html).toContain(`role="alert"><p>${problem}</p>`);
    expect(html).toContain('value="BCDF" aria-invalid="true" aria-describedby="problem"');
  });

  it('keeps what a link or a person brings inert (T-059)', () => {
    for (const code of ['linkedCode', 'typedCode'])
      expect(pageStructure(renderDeviceCode(en, { ...form, [code]: hostile }))).toEqual(
        pageStructure(renderDeviceCode(en, { ...form, [code]: 'BCDF' })),
      );
  });
});

describe('renderDeviceConfirm', () => {
  it('shows the code, the app as far as it is known, where and when it was asked for', () => {
    const html = renderDeviceConfirm(en, confirm);
    for (const shown of [
      '<p class="code">BCDF-GHJK</p>',
      '“Claude Code”',
      'described by <strong>claude.ai</strong>. Any device can say that.',
      'requested from 203.0.113.7, 2 minutes ago',
      'https://claude.ai/oauth/client.json',
      'Team notes',
      'Refuse if you do not know this device',
    ])
      expect(html).toContain(shown);
  });

  it('has the refusal as its first button, so that the Enter key refuses (T-029)', () => {
    const html = renderDeviceConfirm(en, confirm);
    expect(html.indexOf('name="abort"')).toBeLessThan(html.indexOf('name="confirm"'));
    expect(html.indexOf('<button')).toBe(html.indexOf('<button type="submit" name="abort"'));
  });

  it('keeps what a client says inert (T-059)', () => {
    const told = (text: string) =>
      renderDeviceConfirm(en, { ...confirm, client: { name: text, clientId: text } });
    expect(pageStructure(told(hostile))).toEqual(pageStructure(told('An app')));
  });
});
