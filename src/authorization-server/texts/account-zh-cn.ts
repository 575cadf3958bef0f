import { markup } from '../views/markup.ts';
import type { accountEn } from './account-en.ts';

/** The words of the account pages and of the ways to log in beside a password, in Simplified Chinese. */
export const accountZhCn: typeof accountEn = {
  title: '您的账号',
  loggedInAs: (account) => markup`当前登录账号：${account}`,
  logOut: '退出登录',
  back: '返回您的账号',
  end: '结束',
  cancel: '取消',
  never: '尚未使用',
  problemTitle: '操作未成功',

  apps: {
    heading: '已连接的应用',
    introduction: '这些应用可以代表您执行操作。结束某个应用后，它的令牌、数据流和正在进行的调用会立即停止。',
    none: '没有应用可以代表您执行操作。',
    allowed: '允许',
    nothing: '没有具体权限',
    since: (time) => `授权时间：${time}`,
    lastUsed: (time) => `最近使用：${time}`,
    until: (time) => `最迟于 ${time} 结束`,
    describedBy: (host) => `由 ${host} 说明`,
    notChecked: '此名称由应用自行填写，未经核实。',
    end: (app) => `结束 ${app} 的访问权限`,
  },

  connections: {
    heading: '打开的 MCP 会话',
    none: '没有应用打开会话。',
    since: (time) => `打开时间：${time}`,
    lastUsed: (time) => `最近使用：${time}`,
    end: (app) => `结束 ${app} 的会话`,
  },

  browsers: {
    heading: '已登录的浏览器',
    this: '当前浏览器',
    other: '另一个浏览器',
    since: (time) => `登录时间：${time}`,
    end: '结束此登录',
    endOthers: '退出所有其他浏览器',
  },

  security: {
    heading: '登录方式',
    password: '修改密码',
    passkeys: (count) => `通行密钥（${count} 个）`,
    codesOn: '一次性验证码（已启用）',
    codesOff: '一次性验证码（未启用）',
  },

  login: {
    heading: '登录',
    toAccount: '请登录以查看和管理您的账号。',
    again: '进行此更改前，请再次验证您的身份。',
    passkey: '使用通行密钥登录',
    orPassword: '或使用密码登录',
  },

  code: {
    heading: '一次性验证码',
    explanation: '请输入身份验证器应用当前显示的验证码，或输入一个恢复码。',
    label: '验证码',
    submit: '继续',
    refused: '验证码不正确，或已被使用过。',
    expired: '等待时间过长，请重新登录。',
  },

  password: {
    heading: '修改密码',
    explanation: '修改后，所有其他浏览器都会退出登录，所有已连接的应用都需要重新授权。',
    current: '当前密码',
    next: '新密码',
    repeat: '再次输入新密码',
    submit: '修改密码',
    wrong: '当前密码不正确。',
    different: '两次输入的新密码不一致。',
    tooShort: (characters) => `密码至少需要 ${characters} 个字符。`,
    tooLong: (bytes) => `密码最多 ${bytes} 个字节。`,
    done: '密码已修改。其他浏览器和所有应用均已退出登录。',
  },

  reset: {
    heading: '设置新密码',
    explanation: '此链接只能使用一次。所有已登录此账号的浏览器和应用都会退出登录。',
    submit: '设置密码',
    doneHeading: '密码已设置',
    done: '您现在可以使用新密码登录。',
    gone: '此链接已被使用或已过期。请向服务器管理员索取新链接。',
  },

  passkeys: {
    heading: '通行密钥',
    explanation: '通行密钥可代替密码：您可以用指纹、面容或设备的 PIN 码解锁。',
    none: '您没有通行密钥。',
    synced: '保存在多台设备上',
    single: '保存在一台设备上',
    added: (time) => `添加时间：${time}`,
    lastUsed: (time) => `最近使用：${time}`,
    name: '新通行密钥的名称',
    suggestedName: '我的通行密钥',
    add: '添加通行密钥',
    remove: (name) => `移除 ${name}`,
    needsScript: '添加通行密钥需要支持 JavaScript 和通行密钥的浏览器。',
    refused: '无法使用该通行密钥，请重试。',
    taken: '该通行密钥已注册，或通行密钥数量已达上限。',
  },

  codes: {
    heading: '一次性验证码',
    off: '启用一次性验证码后，登录时除密码外还需输入身份验证器应用中的验证码。',
    scan: '请用身份验证器应用扫描此图，或将密钥输入应用，然后输入应用显示的验证码。',
    picture: '供身份验证器应用扫描的二维码',
    key: '密钥',
    label: '验证码',
    turnOn: '启用',
    on: (count) => `一次性验证码已启用。剩余恢复码：${count} 个。`,
    turnOff: '停用',
    newRecoveryCodes: '生成新的恢复码',
    recoveryHeading: '您的恢复码',
    recovery: '请将这些恢复码保存在没有设备时也能找到的地方。每个恢复码可代替验证码使用一次，之后不再显示。',
    refused: '验证码不正确，请核对设备时间后重试。',
  },
};
