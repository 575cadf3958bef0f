import { en, type Texts } from './en.ts';
import { zhCn } from './zh-cn.ts';

export type { Texts } from './en.ts';

/** All languages, each with its language tags in lower case. The first is the default. */
export const languages: readonly { texts: Texts; tags: readonly string[] }[] = [
  { texts: en, tags: ['en'] },
  { texts: zhCn, tags: ['zh', 'zh-cn', 'zh-hans'] },
];

/** Languages of a user, as they were sent. */
export interface LanguageWishes {
  /** `ui_locales` of the authorization request: tags in order of preference, parted by spaces. */
  uiLocales?: string | undefined;
  acceptLanguage?: string | undefined;
}

/** Maximum number of language ranges that are read. */
const maxRanges = 32;

const range = /^[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/;

function splitUiLocales(sent: string): string[] {
  return sent.split(' ', maxRanges);
}

/** The ranges of an `Accept-Language` by weight, those of weight 0 left out (RFC 9110 section 12.5.4). */
function splitAcceptLanguage(sent: string): string[] {
  return sent
    .split(',', maxRanges)
    .map((entry) => {
      const [tag = '', ...parameters] = entry.split(';').map((part) => part.trim());
      const weight = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2);
      return { tag, weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ weight }) => weight > 0 && weight <= 1)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag);
}

/** Looks one range up, shortened from its end until a language answers to it (RFC 4647 section 3.4). */
function lookUp(wanted: string): Texts | undefined {
  let rest = wanted.toLowerCase();
  if (!range.test(rest)) return undefined;
  while (rest !== '') {
    const found = languages.find(({ tags }) => tags.includes(rest));
    if (found) return found.texts;
    const end = rest.lastIndexOf('-');
    rest = end < 0 ? '' : rest.slice(0, end).replace(/-[a-z0-9]$/, '');
  }
  return undefined;
}

/**
 * Chooses the language of a page: the first the authorization request names that we have, else the browser's
 * favourite that we have, else English. What is not a language tag is passed over.
 * @returns the catalogue
 * @see RFC 4647 section 3.4 (lookup); OpenID Connect Core 1.0 section 3.1.2.1 (`ui_locales`)
 */
export function chooseTexts({ uiLocales, acceptLanguage }: LanguageWishes): Texts {
  for (const wanted of [...splitUiLocales(uiLocales ?? ''), ...splitAcceptLanguage(acceptLanguage ?? '')]) {
    const texts = lookUp(wanted);
    if (texts) return texts;
  }
  return en;
}
