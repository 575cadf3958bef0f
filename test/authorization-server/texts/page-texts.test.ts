import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';
import { keepUiLocales, textsFor } from '../../../src/authorization-server/texts/page-texts.ts';
import { serveSteps } from '../../support/koa-step.ts';

async function languageOf(step: (ctx: Context) => void, query = '', acceptLanguage = 'en'): Promise<string> {
  const url = await serveSteps([
    (ctx) => {
      step(ctx);
      ctx.body = textsFor(ctx).language;
    },
  ]);
  return (await fetch(`${url}${query}`, { headers: { 'accept-language': acceptLanguage } })).text();
}

describe('the words for a page', () => {
  it('are those that the authorization request asks for', async () => {
    expect(await languageOf(() => undefined, '?ui_locales=zh-CN')).toBe('zh-CN');
  });

  it('are those that were asked for when the interaction began, whatever the browser says later', async () => {
    expect(await languageOf((ctx) => keepUiLocales(ctx, 'zh-CN'), '?ui_locales=en')).toBe('zh-CN');
  });

  it('are those of the request that the engine has taken up again', async () => {
    const resume = (ctx: Context) => {
      (ctx as unknown as { oidc: unknown }).oidc = { params: { ui_locales: 'zh' } };
    };
    expect(await languageOf(resume)).toBe('zh-CN');
  });

  it('are those of the browser where nothing was asked for', async () => {
    expect(await languageOf(() => undefined, '', 'zh-CN,zh;q=0.9')).toBe('zh-CN');
  });

  it('are English where ui_locales comes twice or as something else (T-022)', async () => {
    expect(await languageOf(() => undefined, '?ui_locales=zh&ui_locales=zh')).toBe('en');
    expect(await languageOf((ctx) => keepUiLocales(ctx, { zh: true }))).toBe('en');
  });
});
