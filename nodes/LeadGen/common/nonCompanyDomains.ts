/**
 * Domains that are not company domains. A lookup with one of them is paid for and finds nobody.
 * - `facebook.com`: the domain, its subdomains and pages
 * - `linkedin.com/`: its subdomains and pages; the domain itself is that of a company
 * - `yahoo.*`: in any country
 */
const LISTS: Record<string, string> = {
	'a free mail provider': `
		gmail.* googlemail.com yahoo.* ymail.com rocketmail.com hotmail.* outlook.* live.* msn.com aol.* icloud.com me.com
		mac.com gmx.* web.de freenet.de t-online.de mail.de mailbox.org posteo.de proton.me protonmail.com pm.me
		tutanota.com fastmail.com hey.com mail.com email.com zoho.com/ zohomail.com yandex.* ya.ru mail.ru bk.ru inbox.ru
		list.ru rambler.ru ukr.net abv.bg seznam.cz wp.pl o2.pl onet.pl interia.pl orange.fr wanadoo.fr free.fr sfr.fr
		laposte.net libero.it virgilio.it tiscali.it bluewin.ch telenet.be skynet.be ziggo.nl btinternet.com
		virginmedia.com terra.com.br uol.com.br bol.com.br comcast.net verizon.net att.net sbcglobal.net bellsouth.net
		cox.net shaw.ca bigpond.com rediffmail.com qq.com foxmail.com 163.com 126.com sina.com naver.com daum.net`,
	'a social network': `
		facebook.com fb.com/ fb.me messenger.com instagram.com threads.net threads.com whatsapp.com wa.me youtube.com
		youtu.be twitter.com x.com/ linkedin.com/ xing.com/ tiktok.com/ pinterest.*/ snapchat.com reddit.com/ t.me vk.com/
		medium.com/ substack.com/ discord.com/ discord.gg vimeo.com/ github.com/ behance.net/ slack.com/`,
	'a collection of links': `
		linktr.ee linkin.bio bio.link bio.site beacons.ai/ carrd.co about.me/ taplink.cc calendly.com/`,
	'a shortened link': `
		bit.ly bitly.com/ tinyurl.com t.co goo.gl g.co g.page lnkd.in ow.ly buff.ly is.gd cutt.ly rebrand.ly rb.gy t.ly`,
	'a page of a website builder': `
		wixsite.com wixstudio.com wix.com/ wordpress.com/ squarespace.com/ weebly.com/ webflow.io webflow.com/ jimdo.com/
		jimdofree.com jimdosite.com strikingly.com/ myshopify.com godaddysites.com business.site sites.google.com blogspot.*
		site123.me webnode.*/ notion.site canva.site framer.website github.io netlify.app vercel.app pages.dev web.app
		herokuapp.com azurewebsites.net cloudfront.net amazonaws.com hubspotpagebuilder.com`,
	'a page of a search engine': 'google.*/ bing.com duckduckgo.com/ baidu.com/ ecosia.org/',
	'a page of a directory': `
		wikipedia.org crunchbase.com/ zoominfo.com/ apollo.io/ rocketreach.co/ glassdoor.*/ indeed.*/ kununu.com/ yelp.*/
		tripadvisor.*/ trustpilot.com/ g2.com/ etsy.com/ ebay.*/ upwork.com/ northdata.*/ gelbeseiten.de/`,
};

/** What each domain of the lists is, in words. */
export const NON_COMPANY_DOMAINS: ReadonlyMap<string, string> = new Map(
	Object.entries(LISTS).flatMap(([kind, domains]) =>
		domains
			.trim()
			.split(/\s+/)
			.map((domain) => [domain, kind] as const),
	),
);
