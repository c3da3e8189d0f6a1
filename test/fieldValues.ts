/**
 * Values as real files hold them, by field: those that are sent as they are, those that are cleaned, and those that are
 * refused.
 */

/** The values of a text, with a bar or a line break between them. */
export const listed = (text: string) => text.trim().split(/ \| |\n\s*/);
/** The same, for values in which there are bars and spaces. */
const spelled = (text: string) => text.trim().split(/ ~ |\n\s*/);

/** Of many countries and scripts. */
export const NAMES = listed(`
	Ada | Ada1 | Nan | Null | Jo | Ng | Bo | O | No | Na | True | Test | J. R. R. | O'Neil | D’Arcy | O´Brien | Smith-Jones
	van der Berg | de la Cruz | von und zu Liechtenstein | St. John | José | Núñez | Begoña | Gal·la | Ângela | São João
	JOÃO | CONCEIÇÃO | ÅSA | Müller | Strauß | Größl | François | Zoë | Anaïs | Jürgen | Åse | Jörg | Céline | Lætitia
	L’Hôpital | Øystein | Þórunn | Łukasz | Żółć | Dvořák | Nguyễn | Trần Thị Ánh | Ștefan | Győző | İbrahim | Kęstutis
	Дмитрий | Їжакевич | Γιώργος | Ծովինար | გიორგი | שׁלומית | محمد | عبد الله | प्रिया | রহমান | ธนกร | ကျော် | សុខា
	ማርታ | 佐々木 | 王小明 | 欧阳 | 김민준 | 이 | Kealiʻi | Jan May | サトシ・タナカ
`);

/** The values that are sent as they are. */
export const UNCHANGED = {
	firstName: NAMES,
	email: listed(`
		ada@acme.com | a@b.co | ada+news@acme.com | o'brien@acme.ie | _ada@acme.com | 1234567890@qq.com
		ada=okafor@acme.com | a&b@acme.com | user@acme.com | ada@sentry.io | noreply@acme.com | jennifer.null@acme.com
		Null@acme.com | jürgen@acme.de | 用户@例子.公司 | ada@xn--bcher-kva.example | ada@3m.com | ada@gmail.com
		x.@docomo.ne.jp | a..b@docomo.ne.jp | .x-y@ezweb.ne.jp | na@acme.com | nora.none@acme.com | tom.locked@acme.com
		hidden.valley@acme.com | private@acme.com | 0123456789abcdef@acme.com | u003@acme.com | ada@www2.acme.com
		ada@domain.co.uk | ada@email.com | ada@company.de | ada@test.com | ada@acme.co | ada@acme.org.uk | ada@live.tv
		ada@gmx.at | b.o'hara@acme.ie | ada@acme.app | ada@acme.consulting | ada@acme.ne.jp | ada@acme.gv.at | a1@b2.c3.de
		jean.luc_o@acme.fr | x@y.zz | ada!@acme.com | kim@acme.kr | ng@acme.sg | ada@i.softbank.jp | ada@us.ibm.com
	`),
	company: listed(`
		acme.com | 1und1.de | a.co | x--y.com | my_shop.acme.com | apple.com | meta.com | orange.com | yahooinc.com
		livenation.com | acme.co.uk | uni-wien.ac.at | mail.acme.de | null.com | xn--bcher-kva.example
		xn--e1afmkfd.xn--p1ai | acme.photography | live.tv | gmx.io | live.me | aol.io | cloud.google.com | about.google
		developers.google.com | jobs.netflix.com | business.linkedin.com | press.airbnb.com | hostinger.com | comcast.com
		att.com | telus.com | sky.com | swisscom.ch | proximus.be | vodafone.de | free-work.com | mailjet.com
		yandex-team.ru | tencent.com | hey-day.com | com.google | co-op.co.uk | ac-group.com | org.com | net-a-porter.com
		ltd.com | me.de | acme.or.jp | acme.go.th | nhs.net | parliament.uk | acme.org.nz | acme.gob.mx | invalid.org
		bit.de | is.de
	`),
	linkedinUrl: [
		...listed(`
			ada | jos%C3%A9-garc%C3%ADa-1 | josé-garcía-1 | 山田太郎 | ada-🚀 | jennifer-null
			ada?trk=people-guest_people_search-card | ada_okafor | ACoAAABcDeF0123456789 | ADA | nan-goldin | unknown-artist
			profile-ada | mee | dir-ada | na-kim | undefined-games | locked-in | example-ada | ada/en
			ada/overlay/contact-info | %D0%B4%D0%BC | ada%20
		`).map((member) => `https://www.linkedin.com/in/${member}`),
		...listed(`
			https://de.linkedin.com/in/ada-okafor-1a2b3c4 | https://linkedin.com/in/ada/ | https://m.linkedin.com/in/ada
			https://www.linkedin.com/comm/in/ada?x=1 | https://www.linkedin.com/pub/ada-okafor/1/2a3/4b5
			https://www.linkedin.com/sales/lead/ACwAAA,NAME_SEARCH,x1 | https://www.linkedin.com/sales/profile/1,a,NAME
			https://www.linkedin.com/sales/people/ACwAAA,NAME,x1 | https://www.linkedin.com/talent/profile/AE
			https://www.linkedin.com/mwlite/in/ada | https://www.linkedin.com/IN/ADA | https://www.linkedin.cn/in/ada
			https://www.linkedin.cn/incareer/in/ada | https://www.linkedin.com/In/Ada
			https://touch.www.linkedin.com/in/ada | https://www.linkedin.com/talent/search/profile/AEMAA?x=1
			https://www.linkedin.com/recruiter/profile/1,a,CAP
			https://www.linkedin.com/talent/hire/123/manage/all/profile/AEMAA | https://www.linkedin.com/m/in/ada
			https://uk.linkedin.com/pub/ada | https://www.linkedin.com/public-profile/in/ada
			https://www.linkedin.com/de/in/ada
		`),
	],
	location: ['Austin, Texas', '1010'],
	jobTitles: ['VP, Sales', '3D Artist', 'Leiter*in'],
};

/** What is sent for a value, with a plus between several values, and spellings of it. */
export const CLEANED: Record<keyof typeof UNCHANGED, Record<string, string[]>> = {
	firstName: {
		Ada: spelled(`
			  Ada ~ A\u200bda ~ \u202eAda\u202c\ufeff\u00ad\u2060\u0000\u3164 ~ Prof. Dr. Ada ~ Mevr. Ada ~ "Ada" ~ 'Ada' ~ Ada, MBA
			Ada (Berlin) 👩‍💻 ~ 🚀Ada ~ Ada | Sales ~ Ada - CEO ~ 𝗔𝗱𝗮 ~ Ａｄａ ~ Ada B. ~ B. Ada ~ Ada_ ~ Ada®
		`),
		'Ada Marie': spelled('Ada\tMarie ~ Ada_Marie ~ Ada Marie (she/her)'),
		'山田 太郎': ['山田\u3000太郎'],
	},
	email: {
		'ada@acme.com': spelled(`
			ada@acme.com. ~ "ada@acme.com" ~ <ada@acme.com>; ~ Ada <ada@acme.com>; ~ Okafor, Ada <ada@acme.com>, ~ ´ada@acme.com´
			ada@acme.com (work) ~ Email: ada@acme.com ~ mailto:ada@acme.com?subject=Hello ~ smtp:ada@acme.com ~ ada@acme.com/
			ada@acme.com, ADA@acme.com ~ ada@acme.com <mailto:ada@acme.com> ~ ✉ ada@acme.com ~ A <ada@acme.com> B ~ * ada@acme.com
			a\u200bd\u200da\u2060@\ufeffac\u00adm\u200ee.\u202aco\ufe0fm ~ ada @acme.com ~ ada@ acme.com ~ ada＠acme.com ~ ada@acme .com
			ada(at)acme.com ~ ada [at] acme [dot] com ~ ada(at)acme(punkt)com ~ **ada@acme.com** ~ mailto:ada%40acme.com
		`),
	},
	company: {
		'acme.com': spelled(`
			https://www.Acme.com/team?tab=1#top ~ ann@acme.com ~ "acme.com", ~   Acme.com.\t ~ acme\u200b.com ~ www.acme.com
			http://acme.com:8080/ ~ //acme.com/a ~ http://acme.com./x ~ acme.com (Germany) ~ Acme (acme.com) ~ Acme Inc. (acme.com)
			Website: acme.com ~ Acme GmbH, www.acme.com ~ Acme - acme.com ~ • acme.com ✅ ~ [Acme](https://acme.com) ~ www2.acme.com
			<a href="https://acme.com">Acme</a> ~ www acme.com ~ www,acme.com ~ acme.com | https://www.acme.com/about
			http//acme.com ~ https:/acme.com/a ~ http:acme.com ~ https;//acme.com ~ https://http://acme.com ~ https\\://acme.com
			view-source:https://acme.com ~ https:// acme.com ~ acme .com ~ https://www.www.acme.com ~ ａｃｍｅ.com ~ acme.com/de
		`),
		'xn--bcher-kva.example': ['bücher.example'],
		'linkedin.com': ['www.linkedin.com'],
		'slack.com': ['https://slack.com/intl/de-de/'],
		'xing.com': ['https://www.xing.com/de'],
		'cloud.google.com': ['https://cloud.google.com/'],
		'wix.com': ['https://www.wix.com/?utm_source=x'],
		'github.com': ['https://github.com/index.html'],
	},
	linkedinUrl: {
		'https://www.linkedin.com/in/ada': spelled(`
			www.linkedin.com/in/ada ~ http://www.linkedin.com/in/ada ~ http//www.linkedin.com/in/ada ~ Ada www.linkedin.com/in/ada
			LinkedIn: https://www.linkedin.com/in/ada ~ Ada Okafor https://www.linkedin.com/in/ada ~ https://https://www.linkedin.com/in/ada
			https://www.linkedin.com//in/ada ~ <https://www.linkedin.com/in/ada>. ~ www.linkedin.com/in/ada; linkedin.com/in/ada/
		`),
		'https://linkedin.com/in/ada': spelled('linkedin.com/in/ada ~ in/ada ~ /in/ada'),
		'https://www.linkedin.com/mwlite/in/ada': ['www.linkedin.com/mwlite/in/ada'],
	},
	location: {},
	jobTitles: {
		'CTO + CEO': spelled('["CTO","CEO"] ~ [ "CTO",  "CEO" ]'),
		'C-Level': ['C-Level \u200b'],
	},
};

/** What an expression or a file leaves in any field where it went wrong, and what is too long. */
const SLIPS = [
	...['undefined', 'null', '[object Object]', '{{ $json.x }}', 'J\ufffdrg', { a: 1 }, true],
	`${'Ada '.repeat(2500)}.com`,
];
export const NO_PROFILES = listed(`
	linkedin.com/company/acme/ | https://www.linkedin.com/feed/update/urn:li:activity:71
	https://www.linkedin.com/search/results/people/?keywords=ada | https://www.linkedin.com/pub/dir/ada/okafor
	https://de.linkedin.com | https://www.linkedin.com/in/me/ | https://www.linkedin.com/in/[name]
	https://www.linkedin.com/in/ada-ok... | https://www.linkedin.com/in/ada https://www.linkedin.com/in/bob
	https://www.google.com/url?q=https://www.linkedin.com/in/ada | https://www.xing.com/profile/Ada | LinkedIn
	https://www.linkedin.com/in/your-profile | https://www.linkedin.com/in/unavailable | https://www.linkedin.com/in/null | https://www.linkedin.com/in/unknown?x=1
	https://www.linkedin.com/in/n/a | https://www.linkedin.com/in/username | https://www.linkedin.com/in/not-available
	https://www.linkedin.com/in/firstname-lastname | https://www.linkedin.com/in/ada-ok…
	https://www.linkedin.com/in/{{ $json.id }} | https://www.linkedin.com/in/ada okafor
	https://www.linkedin.com/showcase/acme | https://www.linkedin.com/mynetwork/
	https://www.linkedin.com/talent/search?x=1 | https://www.linkedin.com/talent/hire/1/manage/all
	https://linkedin.cn/jobs | https://evil.com/linkedin.com/in/ada | https://www.linkedin.com/profile/view?id=1
	https://www.linkedin.com/authwall?x=1 | https://www.linkedin.com/in/ada&trk=x
`);
const NO_NAMES = listed(`
	none | NONE | unknown | Unknown Person | n/a | N / A | n.a. | locked | hidden | email not available | name not found
	not available | not found | not provided | not set | not specified | not unlocked | no email | no e-mail | no name
	no linkedin | no profile | no website | keine Angabe | k.A. | k. A. | (none) | [unknown] | #N/A | private | anonymous
	Anonym | no first name | no lastname | test test | test user | TBA | tbd | Name | Names | First_Name | last-name | Full Name
	Given name | Family name | Middle name | Forename | Surname | Contact Name | Person name | Your name | Vorname | Nachname
	Familienname | Nickname | fname | f_name | lname | l_name | Prénom | prenom | Apellido | Apellidos | Cognome | Sobrenome
	Apelido | Voornaam | Achternaam | Förnamn | Efternamn | Fornavn | Etternavn | Efternavn | Nazwisko | Příjmení | Soyad | Soyadı
	Фамилия | [First Name] | <<Name>> | *|FNAME|* | %7Bname%7D | null | 12:30 | 1-2 | a*b
	LinkedIn Member | Utilisateur LinkedIn | LINKEDIN MEMBER | View Ada Okafor's profile
	Ada OkaforView Ada Okafor’s profile | Sm***h | S***** | Ada O... | =A1&" "&B1 | #REF! | #NAME? | #N/A | Ada #REF!
	2024-05-01 | 2024-05-01T00:00:00.000Z | 01.05.2024 | 5/1/2024 | 123 | {first} | {{firstName}} | locked
	Not Available | n/a | (not set) | no name | https://acme.com/ada | www.acme.com | J\ufffdrg | MÃ¼ller | M?ller
	O&#39;Brien | [object Object] | $json.name | NULL | Smith… | Hidden | Private | Unknown | First Name | [First Name]
	$firstName | %FIRSTNAME% | none | na | ada@acme.com | undefined | NaN | - | N/A
	Sales Team | Acme Ltd. | Acme S.r.l.
`);
/** UTF-8 that was read as Windows-1252. */
const DAMAGED = listed(
	'Weiß | Ünal | Özil | Åsa | Ondřej | Œuvrard | Ñandú | Ştefan | Žofie | Győző',
).map((name) => new TextDecoder('windows-1252').decode(Buffer.from(name)));
const NO_PLACES = [
	'{city}',
	'=A1',
	'#REF!, Austria',
	'Aus***',
	'Graz &amp; Wien',
	'Austin, undefined',
];

/** The values that are refused. */
export const REFUSED = {
	firstName: [...SLIPS, ...NO_NAMES, ...DAMAGED],
	/** Also several people, and headers of whole names. */
	fullName: [
		...SLIPS,
		...NO_NAMES,
		...listed(`
			Ada Okafor; Bob Smith | Okafor, Ada; Smith, Bob | Ada & Bob Smith | Ada Okafor / Mary-Jane O'Neil
			Info | Admin | Hiring Manager | Office Manager | Accounts Payable | Accounts Receivable | Customer Service
			Customer Care | Human Resources | Unbekannt | Desconocido | Desconocida | Inconnu | Inconnue | não informado
			Nao informado | Не указано | 担当者
			Mr. & Mrs. Smith | Hans und Eva Weber | First Name Last Name | TBC | N. A. | Private Member | Last Name
		`),
	],
	email: [
		...SLIPS,
		...listed(`
			logo@2x.png | j***@acme.com | j•••@acme.com | ada@acme.co... | locked@acme.com | email-not-available@acme.com
			ada.@acme.com | .ada@acme.com | a..b@acme.com | {first}.{last}@acme.com | user@domain.com
			undefined.undefined@acme.com | a@b.com c@d.com | u003eada@acme.com | u003cada@acme.com | n/a@acme.com
			N/A@acme.com | none@acme.com | ada@www.acme.com | 605a7baede844d278b89dc95ae0a9123@o37.ingest.sentry.io
			605a7baede844d278b89dc95ae0a9123@sentry-next.wixpress.com | ada@co.uk | ada@acme.test | ada@acme.invalid
			ada@acme.local | jane@example.com | jane@example.org | info@mysite.com | ada@yourdomain.com
			ada@your-company.com | you@company.com | unavailable@acme.com | <<Email>> | ada@acme | @acme.com | ada@1.2.3.4
			ada@@acme.com | a,b@acme.com | ada@acme.com/bob@acme.com | a@[1.2.3.4] | a@-b.com | a@b.com, c@d.com
			first.name@acme.com | firstname@acme.com | vorname.nachname@acme.de | prenom.nom@acme.fr | prénom@acme.fr
			nombre@acme.es | max.mustermann@acme.de | test@test.com | 1+ada@users.noreply.github.com
			Ada a@b.com | hidden@acme.com | not.available@acme.com | x..y@acme.com | ada@my_shop.com
		`),
	],
	company: [
		...SLIPS,
		...listed(`
			Acme | https://www.acme | logo.png | index.html | acme.co… | undefined.com | www.localhost | (not set)
			https://www.instagram.com/acme | sites.google.com/acme | acme.con | acme.comm | co.uk | org.uk | net.au | ac.at
			or.at | gv.at | ltd.uk | acme.test | acme.invalid | mail.acme.local | acme.onion | acme.firebaseapp.com
			acme.hs-sites.com | https://maps.google.com/?cid=1 | https://goo.gl/x | https://www.google.de/search?q=acme
			https://www.google.com/?q=acme | live.co.uk | Acme Inc | 10.0.0.1 | https://linktr.ee/acme | https://bit.ly/3xyz
			acme.com (beta.com) | https://acme.slack.com | my_shop.com | example.com
		`),
	],
	linkedinUrl: [...SLIPS, ...NO_PROFILES],
	location: [...SLIPS, ...NO_PLACES],
	jobTitles: [
		...[...SLIPS, ...NO_PLACES],
		...['["CTO"', "['CTO']", '{"title":"CTO"}', '["undefined"]', 'N/A', '-'],
	],
};
