// Made by scripts/unicode_tables.py, which explains it, from Unicode 14.0.0.
#pragma once

#include <cstdint>
#include <string_view>

// clang-format off
namespace saltus::unicode {

inline constexpr int kLastDigits = 66, kOtherDigits = 25;
inline constexpr std::uint8_t kClasses[] = {0, 1, 40, 4, 16, 32, 33, 36, 2};

inline constexpr std::string_view kClassRanges =
    "g*4-+h9+S*S*&g2*SiB8*&*iBAj<+&G&(#'&#)#(>('&*(#'&5&i'#j-#ggE#B>gi6#iKp[u.B10-(9&'?1'*9$'$hN$q3"
    "#x^#I1|H$k*-(J*kE/-5$l%&%&.&.&%diG?>&*g<V5/#/,g=&)8j2(g2hUg2A,%s;&#[)#R1.#@h8gY$)#%iciI-r#g=#g"
    "WkSg+1#8(-%i,@(g+(7(I-gc$i57-&$g;Hi,(P$2QekA(i.)j4m;%#%>e>%5[g2./g2&(g`%,$c-,-h]$Y$#6>-%>@-,-,"
    "%#d#?,$5.-i#&%-.#$P?,-h]$Y$,$,$,-%$5.?.-76%Z>$#Zg2.5%&g3.#$g)$5$h]$Y$,$G-%>I$.#$,%-#ga,.-g2&#Z"
    "#R$%,$c-,-h]$Y$,$G-%,%#@-,-,%Z.#?,$5.-h8g3%#$P65$>6,$#$,6,656gD?,%,65$5%-#Q#gWhSH%5%c$5$i#$h&-"
    "%#7>$7$@Z.$5-#-,.-g2Z&g)%,&c$5$i#$g2$G-%,%G$%,$,.Z,Q,$,.-g2$,gN.g;$5$kA.>@$5$5%,?gV.-i>$%,$h86"
    "i,$g)$#-Y6%?57$%$cQg2-,&gEl>%,[?Y(e&g2/ja,$#$G$i,$#$g2%,g+#-G$($R-g2->j3>gc#&5.iG%#%#%Ag2$jV?g"
    "X#I&.Gg=$jX$c%P$,J>/jal#@#R#.,.g;Sc.>7h&@gM%,.P%g`%,k*$'H'-kW&(9gyS$>-Y$#$>-kA$>-j;$>-Y$#$>-g`"
    "$mM$>-o#-7g,hJ6i>QqN-T-&ioG&h/+i>/6p)8g;Zh87#g*hA.#/g*h8.gEgM$5$.gElc.#[c%,g=8(8,%-g2Qg2Qg>7)%"
    "g2QjM(m)ZG.jD%#Ho>g3j)$7>.5?,%P7?#6/k8-Gg<k]?i>Qg;6mM.,%-/m2%#[$%#%,ePg4-%g2Qg2Q](S-gX(h(lH@l>"
    "%#I#%G%g26g2]g2g+g)/$.j2@,.#7mD%#.5%#7,dAk]e,.6Jg26kSU/g-ZkW-9g#d7&gO#[>%P%5.#HkanFgQ(jHjenLgr"
    "Z-T-k*-T-g$$'$'$'$j--m-$^(':9$^:B-T$:gQ:-9$^1$gCMg#3g5*/*4M+hM#gP#gG+M$g8#(-g)/(gM/$gR6j;gagOC"
    "%:gFga,'>',g6#'5KP'#'#'#B#T>',BGK>'h/j650Y?hg,AiY/go2i6g;hTqJm$iq]gYpM/j)g5hjYh`nAAj2/hf]-j2$t"
    "/vZ1sdPB70HA#/k*$'H'-mDZ(&gW%i#g*Y$Y$Y$Y$Y$Y$Y$Y$j4l8(j5,gGjEi>$r#gEgj&i?gD?+8#(,g5,gGg2@,&LG("
    "#&,$qJ-.C#&r,&:#HkS$rP$q8gEl5$lis;(lkS6m;g*k8U/gq>(8iPhKl0#%:&g4&(iT1.pV.SdjIpH(i':B#mdH0$'$Ki"
    "-:0#1'Y%5%>%i5.G%6g2QlcAdo,.d/g2Qh:P8#&,%k&e/i#g=,g<&iY67l>%,@,.5gP$(g2?/G%(i,$kAR,.,.g*5%c%#-"
    "g2-Ah&(g;%lY%#7,.G.#%#i-,(/gD.,/#1#%g3P-P-Pg*Y$Y$kWLg-:?pZj`%,%,&#%-g2Qhp}8gEi#?lGg{h?g~V-t8k'"
    "^gEKH#%i,$G$#$,$,$tJh4h'g~;/pV-m2Z#j3h&h(8*SQh(jG*$&*gG#&5$&#/?G$x5-)$8#/*8#/*&g2*&5/iB8(&(iB&"
    "#&#]g2(l#1j)6P-P-P-565(5$Yg3;#6gD$i>$hA$,$g`-gVjEvMH8?l#6q]$gM6#l6l#%wKiY6lGga%iG?jVg*icHk&IHi"
    "c$&jV?c&GkKpZpD-g2QjZ?jZ?k8dlcg<&g?$gd$^$0$g?$gd$^$0o$gw5g*h]g3ci-U$kO$g.o6P-#$k]$,6#-i#$&oGdg"
    ")l?hA$,Hj;6&i>H&nKmD?hJ-l57$.H@>$5$iY-7?%g)Zg,Zj)&j2j3j`.?G]g*m26]h]-iGHi>ZAgEYpWoYm<l^gNl^ZkJ"
    "@dg2gtdj)$kJ$.&-,pEk8dh]g=>Jh^h8@Ak'iPhKi#g*#%m2gb]?ic%,.#g*7lG@,./)A%g3)-i5Zg2Q7jVI#e$g2A>djM"
    "%/#g*.lcg+PA@&#%g;&#8$hJg<h8$iP7,%#.S%nTY$#$>$g`$g2&Ql5%5eHg2Q.,$c-,-h]$Y$,$G$.5%>-,-5-#Q#HY-["
    "6IxZmDe,7#%>Jg2/$&%5idlYR#%>.#.,&#dg2|ElP@->.#.i&>.jElYe,%#.8#g<g2QgPhBkS%#%,R#%#&Qg2m3iG-7,@#"
    "I?gD8cgf*l5g+#.&sEnNhAgEc-#-c$,$ic$,-.#%>%8g*g2o?c-kJ@-.>%#&,iH#g4k8R,@g#%d#R,7l,gO#.8#JgNoYgp"
    "Tg)$k&[$R#%#Jg3iY6/ic-h_$#[#.#.oZY$,$k&R6%$.$[#%dg2QP$,$j`$.$,%#%#Zg2gw-hA.,/~Z#galPgN&kfJsWu#"
    "$Jg<ggJto9s)/gNkz`$g/|fNij;g|h*ihAZj)$g2?/pM$g2Qic-I&g3l>[J>C&#g3g2$Y$hSHhAixQnNi#AsNp)?%mDZ@g"
    "RnK1&(%g<,gWgnqJdlxPkKg)g}x6C$_$1$gtGl$5h0>dhi]rtKtAHgM6g)Zg2-#.&DgfuWl.-i%g*uPn'gn>g3k/-n87g)"
    "g&e,[ic@n/hTn]7#z^hJgEqSg*i5x6qE$oK$0-'-0-B$gH$'$^$nW$B-g$$^$iT$B$K$'6^$g{6-i9#i9#j-#i9#j-#i9#"
    "j-#i9#j-#i9#g$-igDm=>lRc%gV%,JgaI$gblf?g6#hNgkH[$h1-[$.$Igial#6[_-g2?,gxEic%h0k]@g2H#lz'Y$>$,$"
    "g`$ggS-g)[kBo0[(?g2?/jlao,p3n/gg9>$iG$,$#-#$g2$>$#$#Q#?#$#$#$5$,$#-#$#$#$#$#$,$#->$Y$>$>$#$g2$"
    "h/H5$G$h/ld,gqQk]?sDgEg`-g`$g`$j`g3l>iBPiBPiBjVmEiYgNk]?g)Z,gWPz^go)Li~,Hh&6gM6uPgEr#ZgD?#gagD"
    "?mDdg2Qk8dic-,pEg{2gEgV-G6G6Yg*iY6g;HPg3g2QcdYg*y`$m;jag2ku9onf8j3|v/Zgk,-glpJgWgux`v}$h}Vnk3g"
    "g};llkkE)ids&w9gmLgwyw?";

inline constexpr std::string_view kLowerRuns =
    "gd<di)9d')dg&:%,%%**%*9%'#iN&%%+#l;&$%'#l3%#%'$l1%#%)#h=%#l+%#l-%#%'#l1%#l5'#l=%#l9%#%+#l=%#lA"
    "'#lC&%%'#lK%#%'#lK)#%'#lK%#%'$lI&$%'#lM%#%+#%3#'%#%'#'%#%'#'&+%*+%)#'&$%'#ha%#gP&6%'#ia(+%3#sh"
    "+%#%'#ja%#sh%)#%'#k_%#h)%#h-&'%nX$%+#%5#iE1#g-'%g+'#gb'$g`'3d'+dg)#36.%/#gX)#%'#0%#%)%ia%2h?%B"
    "dgD3%8=%'#A&)%*R%)HgAirIHnz+'#nz+/#nz+{`g0g|hQ%(3hvUMiv,)%iv,oTg+%7#okT(R%7*25(29*25*25(2<&25*"
    "2U*25*25*25$2%$h2%#4;&hJ%#4;$2%$i$=$2%$i<%#0;$i]%$iX%#4o%#ohV+#pj$%#pf:1#[g=2CK#%~Y<WhkWRgAgC#"
    "%'#sfF%#juH%#sf&*%%'#sgN%#sfR%#sgT%#sgR'#%)#%5$shR&T%6$%-#%grv&9%L0%j,)%,A%:$%'#gwzN&'%-#%'#hg"
    "l0*$%,,%'#hgm&%#hgm<%#hgm4%#hglc%#hgm&'#hgkF%#hgl4%#hgkL%#gi+&*%'#g@%#hgm$%#gw|2&$%1#%0$%^#%gh"
    "g3<dgr%Jg1j-Fg1jU-g/'1g/')g/'$g/hiOUgbiwGBdggs7Bdgsg7Dg%";

inline constexpr std::string_view kDecompositions =
    "h`)gd#####%,''###+###%)-%####&(/###+&)3#####%,''###+###%)-%####&(/###+%4#gPdcdcd_dcdcdcdad&7ad"
    "cdcdcdcd_dcdcdcdad&,adcdcdcdc''%dad%)adcdcd()_dcdcd')adcdcd&5]dcdcdadcdcdcdadcd&:adcdcdcdcdcd_"
    "d_dc%dcdcdE%g6d1%Vd@3gHdRdVdVdcdcdcdcd%)gHdcdi'd&.jXdZdZdcdoblMvR'%g&d&GTdg:di'd>dkFdcdZdcdZdc"
    "dVdcd]dcd]dcdg$dad&%g8d*1g.dZdNdcdcdcdNdj]$wA-$y8*)i7|I|*|3''%$/%&/+C=*c;;+'';=(:;./+(%5#O%h%#"
    "%$&'$<(&K&9.$8C$d:%(#%$&'$g'(&Z&9;%gC%g+%h]d1'g,dcd&%Xd&)jb%k_dad&)adcdVd&/k-%kPdg4dcdcdZd&%Zd"
    "jD(t?#g#eg'h9$j1%$J4$Eo'$x++$3&$)G+_%%--%5+gM$jK#$4$$5#$C3%gL%%$=g5$id&$/F&g$%-&$AiG$nK&$##$4$"
    "$5#$C3%gL%Z$i=#$h)Y$D#$2$$5#$4$$3#$EiQ$mQ*%#%%%J##$Iga$i?#$2$$5#$4$$3#$Eh-$ib%$##$6$$7#$6$$7#$"
    "/k>$pU-$7($-($-($-0$Xh]$lbgw/$io;#$gA%$g<#$g=%$g8#$g9%$g4#$g5%$g0#$g1'$g(#$g)L$#%$#&$5#$4$$7#$"
    "6%$#pLh9no(dadcdcdadadcdcdcdcdadcdcdcdcdadadadcdcdcdcdadcd_dcdcdadcdcdcdadcdcdadcdcdcdadcdcdcd"
    "adcd_dcdcdcdadcdcdcdcdadcdcdcdadcdcdcdcdadcdadcdcdcdcdadcdadadcdcdF;)'%$mb(g;oLdcdcdcdcdcdcdcd"
    "cdcdcdcdZdcdcdcdcdcdcdcdZdcdVdcdcdcdcdcdcdcdcdcdcdcdVdcdcdcdcdcdcdZdcdcdcd*9~d#######c#######g"
    ")#####&)c#####&Ig%#######c#######g%#######c#######g-#####&)c#####&+g-#######%$c%$#%$#%B#g)####"
    "###c#######3#+#'#'#/#/#+#&XR#######c#######g-#######c#######gE#######c#######3####%*##c####%$g"
    "1&'}V}S##%1##g$#'##nx?##nw<###&)##c###%6nz5##nxa###*#+#c###*}&#h.&&ggA##%+##g4#7##|a&%ow[%j@$n"
    "ya'%gg*6gP%pn='6$'B&gY+&X$gC($-&$);$S%$'>$Q&$1&$'%$):$pt(%$pt[.(Jpt4'pt`%&%=%&%)%*%)%&%1%&%)%F"
    "'Y/%'T'g>%K%*'d%%%`%ji;%gj[$gu*{)$gw+%$'%$'%$'%$'%$'%$'%$'%$'%$'%$'%$'&$)%$'%$'*%1#%%)#%%)#%%)"
    "#%%)#:$gJ-$hM1$?%$'%$'%$'%$'%$'%$'%$'%$'%$'%$'%$'&$)%$'%$'*%1#%%)#%%)#%%)#%%)#:$gJ&'h1%%%'$9gl"
    "fWj)gin1qtHro%uHom@pi&gy1}r;#{z6ws7xwPgj+hw9lnMhzOhh/qCoMhn^q~&~%gj%}?kh#jh1hv-}p.gs=mmUhk#lkQ"
    "mpSzhRky9lyUgh[q~Boubg}QrzLht=g~'gx1ol9zl>w#nbks[g|#hl-grGhzKg{QhKhnUh{[gm^ySqu:m;gm%g|Wjx-it'"
    "lhDurJg|OohUglbjo@g~Qlj`ij/yl_ghAjl1gj7o;joIn#mqWz}>tjQtr,BrrSgi/g})kxMioeruNhk[pk^x{>jl+gm9lf"
    "btYpv@qxbry]j}AkqJosEhlZmnIrzagpSorOji%g~Coteqidp|Rh}eo|CowHkr[rf8{/h`mg3ln3gw`hu'hj1yrHp)gu5g"
    "wAhi+ij7h{-n{/gqUgm=gO}v*llAgq=qiMujH~+i=z/ilSvOgf1guUgm7y3jt-ij4iqb~AzkVj3v7nwGmq#tWsu<o)gh9h"
    "sKkiChx,qnNhrQgs3t-xClgbkGiqYk1kt)gq`hCl7|rXsg^mq;gs`vwNkw<x'ipbhAh|Ggo1hpCgoGjt3it1jv^ww8tyMz"
    "~TlrCiMgv-pEgw)p/}Ygq%nqY|f8kjdvkM{z:jf7kkApmbty>s;hhbisSp{C{k8tShtOif)oGpCgm^hk7t?h~=h|?Ghy/g"
    "tAz~Pns/nl@ok={Iko[kj3gy3wQwg_g}+ll%hk.hIq1ig.vPnmCxz&vldujegFi|`gm=ngWpn@kqEg~Trt=hiVjnMi}csl"
    "<jk6go`&$z/%$jo=&-loPpn7gi+xdg%1g5ol#nl6}3%$g~+%$gs#&%guSkd'g%hqM=g9gp5i~Hgz;|g&oCi)qEYi7wYi/h"
    "dt7i-gid7gm/l?g-i%gg)jAk7u-gs;jbn#wYkSu3go=k39$3/1gA%k=gdoOw)MgQo3jAtWj3#tCgqMj'q#gQr?gKzWibhg"
    "SnKgYwmNk~wYktl]&gKvhcghKh8tVsSgWo`gGzAh.h'h1y-hQj=Cn/l#gi?1j;h'o'iIh*j'g<j?h#r+hOgMm^nOjb+gWg"
    "m)gdq[r?BhMmMp/g}5gw2iQiSo`jEgKl['k/EUhK6r#tQn1kOlWjMp#l%gfKjUghAsYh)Co#gSg:gM(Dh7hAqIvdoEnblQ"
    "gl1i+iCj%g);gA|%gp1j{{3.itSllqDgoUg#ltr#ilOps[k}z2h5g%$g|w<%$U.04###T##%%%%%%%('%%%%%$'%%'%%%'"
    "%%,'%%%%L*75imK$imy#%$'2$7p/$z?#$4$$5#$CkH%pS##$4%$5#$+iY$mK#$4$$7#$6sF$gh9#$,git5$hmiI#$?$$<#"
    "$=$$<#%=5$$N#%=7$$P#%=9$$R#%=;$$T#%==g8$h-#$hF$$hI#$hH$$hG#%hF5$$h7#%hH5$$h5#%hF7$$h5#%hH7gzv9"
    "n1jziP,5ko}Kkot_h;=h-iMbh;RnxPkyr#kptB1CIkpjGkyhDn|Cg-kpk7kpje=|&|75miyMmiwP?og&ohU9g9-ohaok;'"
    "YO9%EgE35U7'##kqi'khiFn|2MkqoIkqo0/MjKi(CdgUhGWh%Cg##MG3Ap7n2n5keg'go8hiGnRg-Uiak'$iSkr{'krxa-"
    "AK3gbksj3h#ksh&g?;h<j7qf,?qjMgM#kst'ksp$MA;ksxUksx<1gfK~Tqo,qq%?hCgFktpWktk4ktk9ktj$(Ei'%qw@qx"
    "5g7Mg9qyelgyAlgxNq{;))KmkkAmki]kumd#kjq:pzD#q|Fll~^tuMlov$5q}_rf9gG7g%j+rjP_rl/ku}^ku|8i`+'&g="
    "Kg)>9g?K+W9h#hGg'iUkvp=kvpcgci5Yhbkvr[kvpchXZr{VshKMbg,sg,smQ^kwmUkwj,n=k6sp$sr1srRg(mfb)lv-i$"
    "nh1x{]p}=+/g[8kw{^llsDs{QiFl1gGkwwUkwwBi:m?thPtj)hbh-kUkwx9kwvVtrTtt^kxk7kxiTttVtuQg;Y%kxu;oi_"
    "om1kxt0kyh[kx~>?i(k7g1gSgLg1A=kx{=kx}ZmKg`ul_uoS*kx~Ykyl&q7kx~%gAkx|XiCX(uv_ux9gG.gMkfrQkfn(ky"
    "n/kykFkyuCkyq2=Ykzi;kzg_Mkzp=lUkzp0Evp,vpbvpH#vuCMMKh)vv@vy/k{j;k{iHk{l;k{jZkm{OkmvXk{}SQj3ls}"
    ".;wg'k|h'$g/Wk|hR%#g7wh.wj-wiTh?lt};k|v*g^gbwnRluqYk|}_k}h?g7k}gehWwu*wwQ7-k}w3o'#k}{BwvHlvzbk"
    "}|X)w|(lwg5k}{,xg@xh+,^k~x1k~u0xh_xkbgWh%xn0lxr#blxqXlxv3k~~Vlfh[lfh$i'9lfq+h1lfpHlftKlft*ko~%"
    "liy.x|-hAx|cx~Uq}alr|7?vj>5kosR)jkE}n:ym+.Gt{Pt|7'7g3lgs7lgs8gQh+h3j.jOg5i=m]iK'Clgs?o;jFl{jHy"
    "yS'g'lirQlip8lg~El{{0+l|f+nUl|nHzi?;9'gbej'g8jIh@h%YzoFzr7dzr2zu+)lim;liiZ1zw*zwdggiFmj~#kIl~t"
    "Z5{g9h9jUl-ljf5li|NOhShWljq)gq~@jwo(@gIjwtIjwmNi%lk}dYlkt2hYdlkz/lky]nMjY%hVqG[llo#lk|N}t4}uKl"
    "lm^mj{$}{5wwPwzKlmg;lAmlh]3~fGlmw+mluZmlz)lmz&#`lnh^lm|4~hL~jWiYYgY~lFmnrQln|Vo-kS~|$b~~7lo}5m"
    "o|2mo}`n%idlpgLgfl>gfn7-171g+lp~=";

}  // namespace saltus::unicode
