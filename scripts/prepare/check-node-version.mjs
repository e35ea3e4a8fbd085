// @ts-check
const REQUIRED = { major: 20, minor: 19 };

/** Throws if Node is older than "engines" in package.json allows; npm itself only warns. */
export const checkNodeVersion = (version = process.versions.node) => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > REQUIRED.major || (major === REQUIRED.major && minor >= REQUIRED.minor)) return;
  throw new Error(`Node ${REQUIRED.major}.${REQUIRED.minor} or newer is needed; this is ${version}`);
};
