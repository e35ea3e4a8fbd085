import { sealText } from '@vat/domain';

/** A webhook secret as it is stored, bound to its account: a row copied to another account does not open there. */
export const sealSecret = (masterKey: string, accountId: string, secret: string): Buffer =>
  sealText({ masterKey, purpose: 'webhook secret', boundTo: accountId }, secret);
