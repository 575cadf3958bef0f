import { type Markup, markup } from '../views/markup.ts';

/** The words of the account pages and of the ways to log in beside a password, in English. */
export const accountEn = {
  title: 'Your account',
  loggedInAs: (account: Markup) => markup`Logged in as ${account}`,
  logOut: 'Log out',
  keep: 'Keep it',
  back: 'Back to your account',
  end: 'End',
  cancel: 'Cancel',
  never: 'not yet',
  problemTitle: 'That did not work',

  apps: {
    heading: 'Connected apps',
    introduction:
      'These apps may act for you. Ending one stops its tokens, streams and running calls at once.',
    none: 'No app may act for you.',
    allowed: 'Allowed to',
    nothing: 'no specific permission',
    withoutScopes: 'Use everything that needs no permission',
    since: (time: string) => `Since ${time}`,
    lastUsed: (time: string) => `Last used: ${time}`,
    until: (time: string) => `Ends on ${time} at the latest`,
    describedBy: (host: string) => `Described by ${host}`,
    notChecked: 'The app chose this name itself. It has not been checked.',
    end: (app: string) => `End access of ${app}`,
    endHeading: (app: string) => `End the access of ${app}?`,
    endExplanation:
      'Its tokens, streams and running calls stop at once. To use it again, you log in from the app and allow it again.',
    submitEnd: 'End access',
    activity: 'What this app did',
  },

  activity: {
    heading: (app: string) => `What ${app} did as you`,
    introduction: (days: number) =>
      `Calls of the last ${days} days. Arguments and results are not shown here.`,
    none: (days: number) => `This app made no calls in the last ${days} days.`,
    unavailable: 'The calls cannot be read at the moment. Try again later.',
    byTool: 'By tool',
    calls: (count: number) => (count === 1 ? '1 call' : `${count} calls`),
    counted: ({ calls, failed, refused }: { calls: number; failed: number; refused: number }) =>
      [
        calls === 1 ? '1 call' : `${calls} calls`,
        ...(failed > 0 ? [`${failed} failed`] : []),
        ...(refused > 0 ? [`${refused} refused`] : []),
      ].join(', '),
    last: (time: string) => `Last: ${time}`,
    more: 'Only the most used ones are shown.',
    newest: (calls: number) => `Only the newest ${calls} calls are counted.`,
    credentials: 'With these accounts and keys of yours',
    eachCall: 'Each call, the newest first',
    older: 'Older calls',
    outcomes: {
      ok: 'worked',
      tool_error: 'reported an error',
      error: 'failed',
      refused: 'was refused',
      timed_out: 'took too long',
      cancelled: 'was cancelled',
    },
  },

  ended: {
    app: 'The app no longer has access.',
    connection: 'The session has ended.',
    browser: 'That browser is logged out.',
    browsers: 'All other browsers are logged out.',
  },

  connections: {
    heading: 'Open MCP sessions',
    none: 'No app has an open session.',
    at: (server: Markup) => markup`At ${server}`,
    since: (time: string) => `Opened ${time}`,
    lastUsed: (time: string) => `Last used ${time}`,
    end: (app: string) => `End session of ${app}`,
  },

  browsers: {
    heading: 'Browsers you are logged in with',
    name: (browser: string, system?: string) => (system === undefined ? browser : `${browser} on ${system}`),
    this: (name?: string) => (name === undefined ? 'This browser' : `This browser: ${name}`),
    other: 'Another browser',
    since: (time: string) => `Logged in ${time}`,
    through: (service: string) => `With ${service}`,
    end: 'End this login',
    endOthers: 'Log out all other browsers',
  },

  security: {
    heading: 'Logging in',
    password: 'Change the password',
    passkeys: (count: number) => `Passkeys (${count})`,
    codesOn: 'One-time codes (on)',
    codesOff: 'One-time codes (off)',
    upstreams: (count: number) => `Accounts elsewhere (${count})`,
    credentials: (entered: number, missing: number) =>
      missing === 0
        ? `Keys for MCP servers (${entered})`
        : `Keys for MCP servers (${entered} of ${entered + missing} entered)`,
  },

  login: {
    heading: 'Log in',
    toAccount: 'Log in to see and change your account.',
    again: 'Please log in again to make this change.',
    denied: (service: string) => `${service} says that you did not allow it. Nobody was logged in.`,
    passkey: 'Log in with a passkey',
    orPassword: 'or with the password',
  },

  code: {
    heading: 'One-time code',
    explanation: 'Enter the code your authenticator app shows now, or one of your recovery codes.',
    label: 'Code',
    submit: 'Continue',
    refused: 'This code is incorrect, or it was used before.',
    expired: 'That took too long. Please log in again.',
  },

  password: {
    heading: 'Change the password',
    explanation: 'This logs out every other browser. You must allow every connected app again.',
    unknown:
      'Your account has no password: you log in another way. To set one, ask the operator of this server for a link.',
    current: 'Current password',
    next: 'New password',
    repeat: 'Repeat the new password',
    submit: 'Change the password',
    wrong: 'The current password is incorrect.',
    different: 'The two new passwords are not the same.',
    tooShort: (characters: number) => `The password needs at least ${characters} characters.`,
    tooLong: (bytes: number) => `The password may have at most ${bytes} bytes.`,
    done: 'The password was changed. Other browsers and all apps were logged out.',
  },

  reset: {
    heading: 'Set a new password',
    explanation:
      'This link works once. Every browser and app that is logged in to the account is logged out.',
    submit: 'Set the password',
    doneHeading: 'The password was set',
    done: 'You can log in with it now.',
    gone: 'This link was used already, or it has expired.',
    goneHint:
      'If you set a new password with it, log in with that one. If not, ask the operator of this server for a new link.',
    noLink: 'This page needs a link from the operator of this server, and this browser has none.',
    noLinkHint: 'Please open the complete link again, in a browser that accepts cookies.',
  },

  passkeys: {
    heading: 'Passkeys',
    explanation:
      'A passkey replaces the password: you unlock it with your fingerprint, your face or the PIN of your device.',
    none: 'You have no passkey.',
    synced: 'stored on several devices',
    single: 'stored on one device',
    added: (time: string) => `Added ${time}`,
    lastUsed: (time: string) => `Last used: ${time}`,
    nameOfNew: 'Name of the new passkey',
    suggestedName: 'My passkey',
    add: 'Add a passkey',
    rename: (name: string) => `Rename ${name}`,
    name: 'Name',
    submitName: 'Rename',
    remove: (name: string) => `Remove ${name}`,
    removeHeading: (name: string) => `Remove ${name}?`,
    removeExplanation:
      'You will no longer be able to log in with it here. It stays on your device until you delete it there as well.',
    needsScript: 'Adding a passkey needs a browser with JavaScript and passkeys.',
    refused: 'The passkey could not be used. Please try again.',
    taken: 'This passkey is registered already, or you have the maximum number of passkeys.',
    onlyWay:
      'This passkey is your only way to log in. Before you remove it, add another one, link a service you can log in with, or ask the operator of this server for a link to set a password.',
  },

  codes: {
    heading: 'One-time codes',
    off: 'With one-time codes, a login asks for a code of your authenticator app after the password.',
    scan: 'Scan this picture with your authenticator app, or type the key into it. Then enter the code it shows.',
    picture: 'QR code for an authenticator app',
    key: 'Key',
    label: 'Code',
    turnOn: 'Turn on',
    on: (count: number) => `One-time codes are on. Recovery codes left: ${count}.`,
    turnOff: 'Turn off',
    renewal: 'If you lost your recovery codes, make new ones. The old ones then stop working.',
    newRecoveryCodes: 'Make new recovery codes',
    recoveryHeading: 'Your recovery codes',
    recovery:
      'Store these where you can find them without your device. Each replaces a code once. They are shown here for a few minutes, and never again after that.',
    refused: 'This code is incorrect. Please check the clock of your device and try again.',
  },

  upstreams: {
    heading: 'Accounts elsewhere',
    explanation:
      'Accounts at other services that are linked with yours: to log in with them, or for tools to use in your name.',
    none: 'No account elsewhere is linked.',
    as: (person: Markup) => markup`Your account there: ${person}`,
    linked: (time: string) => `Linked ${time}`,
    checked: (time: string) => `Last checked: ${time}`,
    unreachable: (time: string) => `Not reachable since ${time}. Your access continues for now.`,
    forLogin: 'You can log in with it.',
    notForLogin: 'It is only for tools: you cannot log in with it.',
    tokensKept: 'This server stores its tokens, encrypted. No app ever gets them.',
    noTokens: 'This server stores no tokens of it.',
    allowed: 'Allowed there',
    notOffered: 'This server does not work with this service any more.',
    link: (service: string) => `Link ${service}`,
    linkHeading: (service: string) => `Link your account at ${service}`,
    linkExplanation: (service: string) =>
      `You go to ${service}, log in there and allow what is listed here. Then you come back.`,
    linkOfAnother:
      'An app asked for this for another account, not for the one you are logged in with here. Nothing was linked. Log out, open the link again, and log in with the account that the app uses.',
    linkTokens:
      'The tokens are stored here, encrypted, and used only when your tools act for you. No app ever gets them.',
    asked: 'Requested there',
    goTo: (service: string) => `Continue at ${service}`,
    away: (service: string) => `${service} cannot be reached at the moment. Please try again later.`,
    faulty: (service: string) =>
      `${service} does not respond as it should. The operator of this server can find the reason.`,
    linkDone: (service: string) =>
      `Your account at ${service} is linked. If an app sent you here, you can go back to it.`,
    linkDenied: (service: string) => `${service} says that you did not allow it. Nothing was changed here.`,
    unlink: (service: string) => `Unlink ${service}`,
    unlinkHeading: (service: string) => `Unlink ${service}?`,
    unlinkExplanation: (service: string) =>
      `Apps that depend on your login at ${service} lose their access at once, and browsers that you logged in with it are logged out. The tokens stored here are revoked there. Your account here stays.`,
    unlinkDone: (service: string) => `${service} is unlinked. Everything that depended on it has ended.`,
    onlyWay: (service: string) =>
      `${service} is your only way to log in. Before you unlink it, add a passkey, link another service you can log in with, or ask the operator of this server for a link to set a password.`,
  },

  credentials: {
    heading: 'Keys for MCP servers',
    explanation:
      'Some MCP servers here need a key of yours to act for you. You enter it here; no app ever gets it.',
    entered: (time: string) => `Entered ${time}`,
    notEntered: 'Not entered yet.',
    notAsked: 'It is no longer needed.',
    change: (server: string) => `Change for ${server}`,
    routeHeading: (server: string) => `Keys for ${server}`,
    routeExplanation: (server: string) => `${server} gets these only when an app of yours calls it.`,
    newValue: (label: string) => `${label}, new`,
    enter: (label: string) => `Save ${label}`,
    replace: (label: string) => `Replace ${label}`,
    remove: (label: string) => `Remove ${label}`,
    kept: 'They are stored encrypted, only for your account, and are never shown again. If you replace or remove one, everything that was started with it ends.',
    enterDone: (label: string) => `${label} is stored. If an app sent you here, you can go back to it.`,
    removeDone: 'It was removed. Everything that was started with it has ended.',
    ofAnother:
      'An app asked for this for another account, not for the one you are logged in with here. Nothing was entered. Log out, open the link again, and log in with the account that the app uses.',
    refused: {
      empty: 'The field is empty. Please enter a value.',
      too_long: 'This is too long for a key. Nothing was stored.',
      control_characters: 'It contains a line break or a control character. Nothing was stored.',
      not_ascii: 'It contains characters that cannot be sent. Nothing was stored.',
    },
  },
};
