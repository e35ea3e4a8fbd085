export { cleanVatText } from './clean-vat-text.js';
export { COUNTRIES, type Country } from './countries.js';
export { type ReadVatNumber, readVatNumber } from './read-vat-number.js';
