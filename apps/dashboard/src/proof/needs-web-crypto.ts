/** Throws, in words for the person at the screen, where a browser gives a page no means to compute hashes. */
export const needsWebCrypto = (crypto: Crypto): void => {
  if (!crypto.subtle) throw new Error('This browser computes hashes only over https, or on the service’s own machine.');
};
