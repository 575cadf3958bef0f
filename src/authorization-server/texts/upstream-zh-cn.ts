import { markup } from '../views/markup.ts';
import type { upstreamEn } from './upstream-en.ts';

/** The words of logins through somebody else's login (an upstream), in Simplified Chinese. */
export const upstreamZhCn: typeof upstreamEn = {
  or: '或',
  logInWith: (label) => `通过 ${label} 登录`,

  loggedInThrough: (label) => `（通过 ${label}）`,
  goesThere: (label) => `允许后会先转到 ${label}，您可能需要在那里登录。`,

  approve: {
    next: (label) => markup`在您继续之前，不会向 ${label} 发送任何内容。您将在那里登录，然后自动返回这里。`,
    asked: (label) => `将向 ${label} 请求`,
    askedNothing: '您的身份',
    submit: (label) => `继续前往 ${label}`,
    otherWay: '用其他方式登录',
  },

  fault: {
    heading: (label) => `未能通过 ${label} 登录`,
    unavailable: (label) => `${label} 目前无法访问，或没有及时响应。没有向任何应用提供任何内容。`,
    refused: (label) => `${label} 的响应无法接受，因此没有任何人登录。没有向任何应用提供任何内容。`,
    notAdmitted: (label) => `您已在 ${label} 登录，但该登录不能在这里使用。没有向任何应用提供任何内容。`,
    notAdmittedHint: (label) =>
      `如果您在这里已有账号，请先用它登录，再在您的账号页面关联 ${label}。否则请询问此服务器的管理者。`,
    again: '重试',
    otherWay: '用其他方式登录',
    backToApp: '返回应用',
    backToAccount: '返回您的账号',
  },
};
