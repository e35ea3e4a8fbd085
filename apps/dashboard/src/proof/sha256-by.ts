/** SHA-256 by Web Crypto. */
export const sha256By =
  (crypto: Crypto) =>
  async (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> =>
    new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
