/** Values as real files hold them, of many countries and scripts. The nodes send each of them unchanged. */

/** The values of a text, with a comma and a space or a line break after each. */
export const listed = (text: string) => text.trim().split(/,\s+/);

export const NAMES = listed(`
	Ada, Nan, Null, Jo, Ng, Bo, O, None, True, Test, Na, X Æ A-12, J. R. R., N.A., K.A., O'Neil,
	D’Arcy, Smith-Jones, van der Berg, de la Cruz, von und zu Liechtenstein, Mc Donald, St. John,
	José, Núñez, Muñoz Grandes, Begoña, Xosé, Jordi Colˑlell, Gal·la, Ângela, São João, Conceição,
	JOÃO, CONCEIÇÃO, ÅSA,
	Müller, Strauß, Jürgen, Größl, François, Zoë, Anaïs, Lætitia, L’Hôpital, Øystein, Åse, Þórunn,
	Łukasz, Żółć, Dvořák, Ďurica, Nguyễn, Trần Thị Ánh, Ștefan, Győző, Şebnem, İbrahim, Āzis,
	Kęstutis, Дмитрий, Їжакевич, Ђорђевић, Γιώργος, Ծովինար, გიორგი, שׁלומית, ז׳בוטינסקי, محمد,
	محمد‌رضا, عبد الله, प्रिया, क्‍षितिज, রহমান, രാജന്‍, ශ්‍රීමාලි, ธนกร, ကျော်, សុខា, སྒྲོལ་མ, ማርታ,
	山田\u3000太郎, 葛󠄀城, 佐々木, サトシ・タナカ, 王小明, 欧阳, 김민준, 이, Keali'i, Kealiʻi,
	!Kung Ana, ᐃᓄᒃ
`);

export const ADDRESSES = listed(`
	ada@acme.com, ADA.Okafor@Acme.COM, a@b.co, a.b.c.d@sub.sub.acme.co.uk, ada+news@acme.com,
	ada_okafor@acme.io, o'brien@acme.ie, ada-okafor@ac-me.de, -ada@acme.com, _ada@acme.com,
	+1555@acme.com, 1234567890@qq.com, 0@1und1.de, ada%okafor@acme.com, ada=okafor@acme.com,
	ada/okafor@acme.com, !ada@acme.com, #ada@acme.com, $ada@acme.com, a&b@acme.com,
	ada|b@acme.com, ada~@acme.com, ada^b@acme.com, "ada okafor"@acme.com, "ada@home"@acme.com,
	a..b@docomo.ne.jp, ada.@ezweb.ne.jp, null.ada@acme.com, Null@acme.com, nan@acme.com,
	undefined.behavior@acme.com, jürgen@acme.de, ada@bücher.example, 用户@例子.公司,
	дмитрий@почта.рф, संपर्क@डाटामेल.भारत, ada@xn--bcher-kva.example, ada@acme.museum,
	ada@acme.photography, ada@3m.com, ada@x.com, ada@t.co, ada@123.com, ada@gmail.com,
	postmaster@acme.technology
`);

export const DOMAINS = listed(`
	acme.com, x.com, 3m.com, 1und1.de, 123.com, a.co, ac-me.com, x--y.com, my_shop.acme.com,
	google.com, apple.com, microsoft.com, amazon.com, meta.com, fb.com, linkedin.com, github.com,
	tiktok.com, slack.com, wix.com, shopify.com, squarespace.com, wordpress.com, orange.com,
	telekom.de, yahooinc.com, gmxyz.com, livenation.com, outlookindia.com, acme.co.uk, acme.com.br,
	acme.co.jp, acme.gov.au, uni-wien.ac.at, shop.acme.co.uk, mail.acme.de, undefined.com, null.com,
	xn--bcher-kva.example, xn--mgba3gch31f060k.com, xn--e1afmkfd.xn--p1ai, acme.museum,
	acme.photography, acme.inc, acme.ai
`);

const MEMBERS = listed(`
	ada, jos%C3%A9-garc%C3%ADa-1, josé-garcía-1, jürgen-müller, дмитрий, محمد-رضا, 山田太郎, 김민준,
	प्रिया, %E5%B1%B1%E7%94%B0, ada-🚀, null-jennifer, ada?trk=people-guest_people_search-card,
	ada/?originalSubdomain=de, ada#about, ada_okafor, ACoAAABcDeF0123456789, 1
`);

const COUNTRIES = listed('de, uk, fr, br, in, jp, cn, ua, se, mx');

const OTHERS = listed(`
	https://linkedin.com/in/ada/, http://www.linkedin.com/in/ada, HTTPS://WWW.LinkedIn.com/in/Ada,
	https://www.linkedin.com/pub/ada-okafor/1/2a3/4b5,
	https://www.linkedin.com/sales/lead/ACwAAA,NAME_SEARCH,x1,
	https://www.xing.com/profile/Ada_Okafor, https://github.com/ada, https://x.com/ada,
	https://acme.com/team/ada-okafor.html, https://en.wikipedia.org/wiki/Ada_(name),
	https://www.crunchbase.com/person/ada-okafor, https://about.me/ada
`);

export const PROFILES = [
	...MEMBERS.map((member) => `https://www.linkedin.com/in/${member}`),
	...COUNTRIES.map((country) => `https://${country}.linkedin.com/in/ada-okafor-1a2b3c4`),
	...OTHERS,
];
