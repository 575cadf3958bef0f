import { type Markup, markup } from '../views/markup.ts';

/** The words of logins through somebody else's login (an upstream), in English. */
export const upstreamEn = {
  /** On the login page. */
  or: 'or',
  logInWith: (label: string) => `Log in with ${label}`,

  /** On the consent page. */
  loggedInThrough: (label: string) => `through ${label}`,
  goesThere: (label: string) =>
    `If you allow this, ${label} is asked next, and you may have to log in there.`,

  approve: {
    next: (label: Markup) =>
      markup`Nothing is sent to ${label} before you continue here. There you log in, and you come back by yourself.`,
    asked: (label: string) => `Asked of ${label}`,
    askedNothing: 'Who you are',
    submit: (label: string) => `Continue to ${label}`,
    otherWay: 'Log in another way',
  },

  fault: {
    heading: (label: string) => `The login through ${label} did not work`,
    unavailable: (label: string) =>
      `${label} cannot be reached at the moment, or did not answer in time. No app was given anything.`,
    refused: (label: string) =>
      `The answer of ${label} could not be accepted, so nobody was logged in. No app was given anything.`,
    notAdmitted: (label: string) =>
      `You have logged in at ${label}, but that login may not be used here. No app was given anything.`,
    notAdmittedHint: (label: string) =>
      `If you have an account here already, log in with it and link ${label} on your account page. Otherwise ask whoever runs this server.`,
    again: 'Try again',
    otherWay: 'Log in another way',
    backToApp: 'Back to the app',
    backToAccount: 'Back to your account',
  },
};
