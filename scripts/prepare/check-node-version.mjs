// @ts-check
const NEEDED = { major: 20, minor: 19 };

/** Throws a readable error on a Node older than package.json's "engines" allow; npm itself only warns. */
export const checkNodeVersion = (version = process.versions.node) => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > NEEDED.major || (major === NEEDED.major && minor >= NEEDED.minor)) return;
  throw new Error(`Node ${NEEDED.major}.${NEEDED.minor} or newer is needed; this is ${version}`);
};
