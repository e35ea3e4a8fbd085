import type { Meaning } from './batch-file.js';

/**
 * The column names in European files: for each meaning lists from the most to the least certain names. In a file with
 * `vat_number` and `NIF` the first one counts, as in a file with `reference` and `id`. For the number's column, the
 * second list has tax numbers that usually, but not always, are also VAT numbers; the third has names of the tax,
 * which may also be the header of its amount. `Kraj` is a country in Polish and a town in Slovenian; the names beside
 * it are of programs that may have a more certain column, too. The number of an invoice is the reference of a supply in a file that
 * has no better one. Names are compared by `foldName`, so one spelling is
 * enough. Each list covers English, German, French, Italian, Spanish, Portuguese, Dutch, Polish, Czech, Slovak, Danish,
 * Swedish, Finnish, Greek, Bulgarian, Hungarian, Romanian, the Baltic languages, Croatian, Slovenian, Maltese and
 * Irish.
 */
const NAMES = {
  candidate: [
    `
      candidate | vat_number | VAT no | VAT nr | VAT ID | VAT ID no | VAT ID number | VATIN | VAT code |
      VAT reg no | VAT reg number | VAT registration | VAT registration no | VAT registration number |
      VAT identification number |
      EU VAT | EU VAT no | EU VAT number | EU VAT ID | Customer VAT | Customer VAT no | Customer VAT number |
      Customer VAT ID | Supplier VAT | Supplier VAT number | Supplier VAT ID | Client VAT number | Buyer VAT | Buyer VAT no |
      Buyer VAT number | Buyer VAT ID | Company VAT |
      Company VAT number | Partner VAT number | VAT/Tax ID | USt-ID | USt-IdNr | USt-ID-Nummer | USt ID No |
      Umsatzsteuer-ID | Umsatzsteuer-IdNr | Umsatzsteuer-Identifikationsnummer | Umsatzsteueridentnummer |
      Umsatzsteuernummer | UID-Nummer | UID-Nr | ATU-Nummer | EU-USt-IdNr | EU-UStID | MwSt-Nummer | MwSt-Nr |
      Mehrwertsteuernummer | USt-IdNr Kunde | Kunden-USt-IdNr |
      USt-IdNr des Kunden | USt-IdNr des Erwerbers | USt-IdNr Leistungsempfänger | USt-IdNr des Leistungsempfängers | N° TVA | No TVA | Num TVA | Numéro TVA |
      Numéro de TVA | N° de TVA | TVA intra | N° TVA intra | N° de TVA intra | TVA intracommunautaire |
      N° TVA intracommunautaire |
      N° de TVA intracommunautaire | Code TVA | TVA client | Numéro TVA intracommunautaire |
      Numéro de TVA intracommunautaire | Identifiant TVA | N° TVA client | Numéro d'identification TVA |
      Numéro de TVA du client | Numéro de TVA de l'acquéreur | Numéro de TVA du preneur | Numéro TVA client | TVA intracom | N° TVA intracom | P.IVA | Part. IVA |
      Partita IVA | P. IVA cliente | Partita IVA cliente | Partita IVA comunitaria | PIVA CEE |
      Numero partita IVA | N. partita IVA | VAT/P.IVA | P.IVA/VAT | NIF-IVA | NIF intracomunitario |
      NIF comunitario | NIF UE | NIF operador intracomunitario | Número de IVA | Nº IVA | N IVA | Número IVA |
      IVA intracomunitario | Número VIES | Número de IVA intracomunitario | Número de identificação IVA |
      Número de identificación IVA | BTW-nummer | BTW nr | BTW-id | BTW-identificatienummer | BTW ID nummer |
      BTW-nummer klant | BTW identificatienr | Intracommunautair btw-nummer | Omzetbelastingnummer | NIP UE |
      VAT UE | Numer identyfikacyjny VAT kontrahenta | Numer VAT | Nr VAT | Numer VAT UE | Nr VAT UE | NIP EU | Numer NIP UE | DIČ DPH | IČ DPH |
      IČ pre DPH | IČ DPH zákazníka | Momsnr | Momsnummer | Momsregistreringsnummer | Momsreg nr | SE-nummer |
      SE-nr | CVR/SE-nummer | VAT-nummer | Moms-id | EU-momsnummer | ALV-numero | ALV-nro | ALV-tunniste |
      ALV-tunnus | Arvonlisäverotunniste | Arvonlisäveronumero | VAT-numero | VAT-tunnus | ALV-rekisterinumero |
      ΑΦΜ/VAT | ΑΦΜ Αποκτώντος | ΑΦΜ ΦΠΑ | ΑΦΜ VIES | Αριθμός ΦΠΑ | Αρ. ΦΠΑ | ΑΦΜ ΕΕ | ДДС номер | ДДС № | Номер по ДДС |
      ИН по ДДС | Идентификационен номер по ДДС | ЗДДС номер | ИН по ЗДДС | Közösségi adószám | Közösségi adószáma | EU adószám |
      Uniós adószám | Európai adószám | Áfa szám | HÉA-azonosítószám | Cod TVA | Cod de TVA | Nr TVA | Număr TVA |
      Număr de TVA | Cod TVA client | Cod înregistrare TVA | TVA cod | Cod de înregistrare în scopuri de TVA |
      PVM kodas | PVM mokėtojo kodas | PVM numeris | PVM mok. kodas | PVN numurs | PVN Nr | PVN kods |
      PVN reģistrācijas numurs | PVN reģ. nr | PVN maksātāja numurs | KMKR | KMKR number | KMKR nr | KM number |
      Käibemaksukohustuslase number | Käibemaksu number | PDV broj | PDV ID | PDV ID broj |
      PDV identifikacijski broj | ID broj za PDV | ID za DDV | ID številka za DDV |
      Identifikacijska številka za DDV | DDV številka | DDV ID | Št. za DDV | ID DDV | Numru tal-VAT | Numru VAT |
      Nru VAT | Numru tat-TVA | Uimhir CBL | Uimhir CBL AE
    `,
    `
      NIF | CIF | NIF/CIF | CIF/NIF | NIF/VAT | NIF cliente | Número de contribuinte | Contribuinte | NIP | Numer NIP |
      Nr NIP | NIP klienta | NIP kontrahenta | NIP nabywcy | NIP dostawcy | UID | UID Nummer Kunde | OIB |
      OIB kupca | ΑΦΜ | ΑΦΜ πελάτη | AFM |
      adószám | Adószáma | Partner adószáma | Vevő adószáma | CUI | CUI/CIF | CIF/CUI | Cod fiscal |
      Cod unic de înregistrare | Davčna številka | Porezni broj | ЕИК | Булстат | CVR-nr | CVR-nummer | CVR |
      Organisationsnummer | Org.nr | Y-tunnus | SIREN | Codice fiscale | Cod. fiscale | Tax ID | Tax ID number |
      Tax number | Tax no | Tax reg number | Tax registration number | Federal Tax ID | Unified Federal Tax ID | TIN |
      Taxpayer ID | Tax identification number | Steuer-ID |
      Identifiant fiscal | Número fiscal | Mokesčių mokėtojo kodas | DIČ | DIČ zákazníka | DIČ odběratele |
      Daňové identifikační číslo | Ondernemingsnummer | Numéro d’entreprise | NIPC
    `,
    `
      VAT | TVA | IVA | USt | MwSt | BTW | Moms | ALV | DPH | ΦΠΑ | ДДС | PVM | PVN | PDV | DDV | CBL | VIES
    `,
  ],
  country: [
    `
      country_code | Country ISO | Country ISO code | ISO country | ISO country code | ISO code | ISO | ISO2 |
      Country key | Ländercode | Länderkürzel | Länderkennzeichen | Landescode | Länderschlüssel | Landeskürzel |
      Länderkennung | EU-Land | Code pays | Code du pays | Codice paese | Codice nazione | Cod. paese | Sigla paese |
      Código país | Código de país | Código do país | Landcode | Landscode | Landekode | Landskod | Kod kraju |
      Kod państwa | Kód země | Kód státu | Kód krajiny | Országkód | Cod țară | Codul țării | Κωδικός χώρας |
      Код на държава | Код на държавата | Код държава | Oznaka države | Koda države | Kod države | Šifra države |
      Šalies kodas | Valsts kods | Riigikood | Maakoodi | Maatunnus | Kodiċi tal-pajjiż | Cód tíre
    `,
    `
      country | Country/Region | Member state | EU country | Customer country | Land | Staat | Mitgliedstaat |
      Pays | État membre | Paese | Nazione | Stato membro | País | Estado miembro | Estado-Membro | Lidstaat |
      Państwo | Země | Stát | Krajina | Ország | Tagállam | Țara | Χώρα | Държава | Страна | Država | Zemlja |
      Šalis | Valsts | Riik | Maa | Pajjiż | Tír | Medlemsstat | Medlemsland
    `,
    `
      Kraj | Country/Region code | Land/Region-Code | Länder-/Regionscode | Code ISO | Codice ISO | Código ISO | Kod ISO |
      Billing country | POCountry | Country name | Ländername | Nom du pays | Nome paese | Nombre del país | Nazwa kraju
    `,
  ],
  reference: [
    `
      reference | ref | Reference no | Reference number | Ref no | Your reference | Our reference | Reference ID |
      External ID | External reference | Customer reference | Client reference | Referenz | Referenznummer |
      Referenz-Nr | Ref-Nr | Kundenreferenz | Aktenzeichen | Référence client | Riferimento | Rif |
      Riferimento cliente | Referencia | Referencia cliente | Referentie | Kenmerk | Referentienummer |
      Referencja | Numer referencyjny | Nr referencyjny | Referenční číslo | Referenčné číslo | Viite |
      Viitenumero | Referens | Referensnummer | Referencenummer | Αναφορά | Αριθμός αναφοράς | Референция |
      Hivatkozás | Hivatkozási szám | Referință | Nr. referință | Nuoroda | Atsauce | Viide | Viitenumber |
      Referenca | Sklic | Poziv na broj | Referenza | Riferiment | Tagairt | Značka
    `,
    `
      Customer no | Customer number | Customer ID | Client ID | Client no | Account no | Account number |
      Supplier no | Vendor no | Kundennummer | Kunden-Nr | Kd-Nr | Debitor | Debitorennummer | Debitoren-Nr |
      Kreditor | Kreditorennummer | Lieferantennummer | N° client | Numéro client | Code client | Codice cliente |
      Cod. cliente | Código cliente | Código de cliente | Nº cliente | Klantnummer | Klantnr | Debiteurnummer |
      Numer klienta | Nr klienta | Kod klienta | Číslo zákazníka | Asiakasnumero | Kundnummer | Kundnr |
      Kundenummer | Kundenr | Κωδικός πελάτη | Клиентски номер | Ügyfélszám | Vevőkód | Cod client |
      Kliento kodas | Klienta numurs | Kliendi number | Šifra kupca | Šifra stranke | Numru tal-klijent |
      Uimhir chustaiméara | id | Record ID | Key
    `,
    `
      Invoice no | Invoice number | Invoice ID | Invoice | Document no | Document number | Rechnungsnummer | Rechnungs-Nr |
      Rechnung | Belegnummer | Beleg-Nr | N° facture | N° de facture | Numéro facture | Numéro de facture |
      N° de pièce | Numéro de pièce | Numero fattura | N. fattura | Nr. fattura | Fattura n. | Numero documento | N. documento |
      Factura | Número factura | Número de factura | Nº factura | Nº de factura | Número da fatura | Nº da fatura | Nº fatura |
      Factuurnummer | Factuurnr | Numer faktury | Nr faktury | Numer dokumentu | Nr dokumentu | Číslo faktury |
      Číslo dokladu | Fakturanummer | Fakturanr | Laskunumero | Laskun numero | Αριθμός τιμολογίου | Αρ. τιμολογίου |
      Номер на фактура | № на фактура | Számla sorszáma | Számla száma | Számlaszám | Număr factură | Nr. factură |
      Sąskaitos numeris | Sąskaitos Nr | Rēķina numurs | Rēķina Nr | Arve number | Arve nr | Broj računa | Številka računa |
      Št. računa | Numru tal-fattura | Uimhir an tsonraisc
    `,
  ],
  requester: [
    `
      requester_vat_number | requester | Requester VAT | Requester VAT ID | Requester VAT no | Own VAT number |
      Own VAT ID | Unsere USt-IdNr. | Unsere USt-ID | Unsere UID | Our VAT number | Our VAT ID | My VAT number | Requestor | Requestor VAT number |
      Eigene USt-IdNr | Eigene USt-ID | Eigene UID | Anfragende USt-IdNr | USt-IdNr Anfragender | Anfragender |
      Demandeur | N° TVA demandeur | Numéro de TVA du demandeur | Notre N° TVA | Richiedente | P.IVA richiedente |
      Partita IVA richiedente | Solicitante | NIF solicitante | NIF do requerente | Requerente | Aanvrager |
      BTW-nummer aanvrager | Eigen btw-nummer | Wnioskodawca | Pytający | NIP pytającego | Własny NIP | Nasz NIP |
      Žadatel | DIČ žadatele | Žiadateľ | IČ DPH žiadateľa | Anmoder | Eget momsnummer | Frågande |
      Eget VAT-nummer | Kysyjä | Oma ALV-numero | Αιτών | ΑΦΜ αιτούντος | Заявител | ДДС номер на заявителя |
      Kérelmező | Saját adószám | Solicitant | Cod TVA solicitant | Prašytojas | Pieprasītājs | Taotleja |
      Podnositelj | Podnositelj zahtjeva | Prosilec | Vlagatelj | Applikant | Iarratasóir
    `,
  ],
} as const satisfies Record<Meaning, readonly string[]>;

/**
 * The words for a customer that stand behind the name of a number or before it: `USt-IdNr. des Abnehmers`, `Buyer's VAT number`. A
 * file with such a column and one that is only called `USt-IdNr` often has the own number of its sender in the latter.
 */
export const CUSTOMER_WORDS = `
  Kunde | des Kunden | Kunden | Abnehmer | des Abnehmers | Empfänger | des Empfängers | Leistungsempfänger | des Leistungsempfängers |
  Rechnungsempfänger | Erwerber | des Erwerbers | Käufer | des Käufers | customer | of customer | customers | recipient | of recipient |
  buyer | of buyer | buyers | purchaser | client | du client | acheteur | de l'acheteur | acquéreur | de l'acquéreur | preneur |
  du preneur | destinataire | du destinataire | cliente | del cliente | do cliente | cessionario | del cessionario |
  cessionario/committente | committente | acquirente | dell'acquirente | destinatario | del destinatario | destinatário | comprador |
  del comprador | do comprador | adquirente | del adquirente | do adquirente | klant | van de klant | afnemer | van de afnemer | koper |
  nabywcy | odbiorcy | klienta | kontrahenta | odběratele | zákazníka | odberateľa | kupujícího | kupujúceho | vevő |
  kupca | stranke | πελάτη | αγοραστή | λήπτη | αποκτώντος | на клиента | на получателя | на купувача | cumpărător |
  al cumpărătorului | beneficiar | al beneficiarului | clientului | kundens | köparens | kundes | købers | køber | modtager |
  modtagers | asiakkaan | asiakas | ostajan | pirkėjo | kliento | pircēja | kliendi | ostja
`;

const split = (lists: readonly string[]): readonly (readonly string[])[] =>
  lists.map((list) => list.split('|').map((name) => name.trim()));

/** The names of {@link NAMES}, split into lists. */
export const HEADER_NAMES: Readonly<Record<Meaning, readonly (readonly string[])[]>> = {
  candidate: split(NAMES.candidate),
  country: split(NAMES.country),
  reference: split(NAMES.reference),
  requester: split(NAMES.requester),
};
