/**
 * Domains that are not company domains. A lookup with one of them is paid for and finds nobody.
 * - `facebook.com`: the domain, its subdomains and pages
 * - `linkedin.com/`: its subdomains and pages; the domain itself is that of a company
 * - `yahoo.*`: in any country
 */
const LISTS: Record<string, string> = {
	'a free mail provider': `
		gmail.* googlemail.com yahoo.* ymail.com rocketmail.com hotmail.* outlook.* live.* msn.com aol.* icloud.com me.com
		mac.com gmx.* web.de freenet.de t-online.de mail.* mailbox.org posteo.de proton.me protonmail.com pm.me tutanota.com
		fastmail.com hey.com email.com zoho.com/ zohomail.com yandex.* ya.ru bk.ru inbox.* list.ru rambler.ru ukr.net abv.bg
		seznam.cz wp.pl o2.pl onet.pl interia.pl orange.fr wanadoo.fr free.fr sfr.fr laposte.net libero.it virgilio.it
		tiscali.* bluewin.ch telenet.be skynet.be ziggo.nl btinternet.com virginmedia.com terra.com.br uol.com.br bol.com.br
		comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net shaw.ca bigpond.com rediffmail.com qq.com
		foxmail.com 163.com 126.com sina.com naver.com daum.net aim.com windowslive.com tuta.com usa.com juno.com
		netzero.net earthlink.net mindspring.com optonline.net charter.net rr.com windstream.net centurylink.net
		sympatico.ca videotron.ca telus.net optusnet.com.au iinet.net.au tpg.com.au xtra.co.nz blueyonder.co.uk ntlworld.com
		talktalk.net btopenworld.com eircom.net arcor.de online.de vodafonemail.de aon.at chello.* hispeed.ch neuf.fr
		club-internet.fr numericable.fr bbox.fr aliceadsl.fr scarlet.be kpnmail.nl planet.nl hetnet.nl home.nl xs4all.nl
		alice.it tin.it inwind.it sapo.pt telefonica.net ono.com ig.com.br fibertel.com.ar prodigy.net.mx op.pl vp.pl
		email.cz centrum.* azet.sk freemail.hu otenet.gr walla.co.il netvision.net.il hot.ee luukku.com online.no i.ua
		bigmir.net internet.ru hanmail.net nate.com sohu.com 139.com 189.cn yeah.net docomo.ne.jp ezweb.ne.jp ocn.ne.jp
		rediff.com/ privaterelay.appleid.com mailinator.com yopmail.com guerrillamail.com`,
	'a social network': `
		facebook.com fb.com/ fb.me messenger.com instagram.com threads.net threads.com whatsapp.com wa.me youtube.com
		youtu.be twitter.com x.com/ linkedin.com/ xing.com/ tiktok.com/ pinterest.*/ snapchat.com reddit.com/ t.me vk.com/
		medium.com/ substack.com/ discord.com/ discord.gg vimeo.com/ github.com/ behance.net/ slack.com/ tumblr.com/
		twitch.tv/ soundcloud.com/ flickr.com/ ok.ru/ weibo.com/ line.me/ telegram.me researchgate.net/ academia.edu/`,
	'a shortened link or a list of links': `
		linktr.ee linkin.bio bio.link bio.site beacons.ai/ carrd.co about.me/ taplink.cc calendly.com/ bit.ly bitly.com/
		tinyurl.com t.co goo.gl g.co g.page lnkd.in ow.ly buff.ly is.gd cutt.ly rebrand.ly rb.gy t.ly shorturl.at amzn.to
		fb.watch`,
	'a page of a website builder': `
		wixsite.com wixstudio.com wix.com/ wordpress.com/ squarespace.com/ weebly.com/ webflow.io webflow.com/ jimdo.com/
		jimdofree.com jimdosite.com strikingly.com/ myshopify.com godaddysites.com business.site sites.google.com blogspot.*
		site123.me webnode.*/ notion.site canva.site framer.website github.io netlify.app vercel.app pages.dev web.app
		herokuapp.com azurewebsites.net cloudfront.net amazonaws.com hubspotpagebuilder.com square.site company.site
		mystrikingly.com ueniweb.com multiscreensite.com webador.* yolasite.com simplesite.com tilda.ws e-monsite.com
		over-blog.com altervista.org tripod.com angelfire.com ghost.io beehiiv.com/ bigcartel.com/ mybigcommerce.com
		hs-sites.com mailchi.mp mailchimpsites.com wpengine.com/ firebaseapp.com onrender.com fly.dev replit.app glide.page
		forms.gle sharepoint.com web.archive.org`,
	'a page of a search engine, a directory or a job board': `
		google.*/ bing.com duckduckgo.com/ baidu.com/ ecosia.org/ wikipedia.org crunchbase.com/ zoominfo.com/ apollo.io/
		rocketreach.co/ glassdoor.*/ indeed.*/ kununu.com/ yelp.*/ tripadvisor.*/ trustpilot.com/ g2.com/ etsy.com/ ebay.*/
		upwork.com/ northdata.*/ gelbeseiten.de/ yellowpages.*/ pagesjaunes.fr paginegialle.it paginasamarillas.es
		goudengids.* herold.at/ firmenabc.at/ moneyhouse.ch/ dasoertliche.de 11880.com/ wlw.de/ meinestadt.de/ europages.*/
		kompass.com/ dnb.com/ opencorporates.com/ bloomberg.com/ pitchbook.com/ owler.com/ wellfound.com/ angel.co/
		clutch.co/ capterra.*/ bbb.org/ foursquare.com/ thumbtack.com/ houzz.*/ booking.com/ airbnb.*/ amazon.*/ fiverr.com/
		freelancer.com/ producthunt.com/ stepstone.*/ monster.*/ ziprecruiter.com/ lusha.com/ hunter.io/ signalhire.com/
		contactout.com/ pappers.fr/ societe.com/ cylex.* justdial.com/ indiamart.com/ alibaba.com/ greenhouse.io/ lever.co/
		workable.com/ smartrecruiters.com/ ashbyhq.com/ personio.*/ bamboohr.com/ teamtailor.com/ myworkdayjobs.com`,
};

/** What each domain of the lists is, in words. */
export const KINDS = new Map<string, string>();
for (const [kind, list] of Object.entries(LISTS)) {
	for (const domain of list.trim().split(/\s+/)) KINDS.set(domain, kind);
}

/** Subdomains on which a host writes about itself. */
const OWN_PAGES =
	/^(about|ads|ai|aws|blog|business|careers?|cloud|corp|developers?|enterprise|help|investors?|ir|jobs|news|partners?|press|research|support|workspace|[a-z]{2})\./;
/** The ends in which a provider has its domain in many countries. `live.tv` belongs to somebody else. */
const COUNTRY =
	/\.(com|net|(com?\.)?(?!(tv|io|ai|me|fm|co|cc|ws|to|gg|so|ly|vc|la|sh|im)$)[a-z]{2})$/;

/** What a domain is if nobody can work for it, such as `a social network`, also by whether the URL is of a page. */
export function kindOfNonCompany(host: string, isPage: boolean): string | undefined {
	const own = OWN_PAGES.test(host) ? 1 : 0;
	const names = host.split('.').flatMap((_, index, labels) => {
		const domain = labels.slice(index).join('.');
		const ends = isPage || index > own ? ['', '/'] : [''];
		return ends.flatMap((end) => [`${domain}${end}`, `${domain.replace(COUNTRY, '.*')}${end}`]);
	});
	return names.map((name) => KINDS.get(name)).find((kind) => kind);
}
