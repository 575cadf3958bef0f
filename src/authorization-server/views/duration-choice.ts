import type { Duration } from '../interactions/durations.ts';
import type { Texts } from '../texts/texts.ts';
import { type Markup, markup, trustedMarkup } from './markup.ts';

/** For how long a client will have what it is given. */
export interface AccessTime {
  /** The times to choose from, the longest last; none for a client that cannot refresh. */
  choices: readonly Duration[];
  /** The longest it can have it, in seconds. */
  longestSeconds: number;
}

const checked = trustedMarkup(' checked');

/**
 * The choice for how long access is given; a sentence where there is nothing to choose. The longest is chosen at first.
 * @param time what there is to choose from
 */
export function renderDurationChoice(texts: Texts, { choices, longestSeconds }: AccessTime): Markup {
  const { duration } = texts.consent;
  const chosen = choices.at(-1);
  if (chosen === undefined) return markup`<p>${duration.brief(longestSeconds)}</p>`;
  const words = { hour: duration.hour, day: duration.day, revoked: duration.revoked(longestSeconds) };
  return markup`<fieldset><legend>${duration.legend}</legend>
${choices.map(
  (name) =>
    markup`<label class="option"><input type="radio" name="duration" value="${name}"${name === chosen && checked}><span>${words[name]}</span></label>
`,
)}</fieldset>`;
}
