// The part of this folder that is loaded on its own, as `@vat/domain/vat-syntax`: it runs in browsers too, where the
// checksum library's module has no default export and the rest of the domain needs Node.
export { cleanVatText } from './clean-vat-text.js';
export { COUNTRIES } from './countries.js';
export { readCountryCode, resolveCountry, TERRITORIES } from './country.js';
export { fitNational } from './fit-national.js';
